"""The review page: a person looks at what was proposed, decides, and looks at the rest of the book."""
