// One process of the `bank` bench that holds the original's bank open; the commands and answers of bank_ours.py.
//   bun bank_theirs.ts MODULE FILE          a command a line on standard input
//   bun bank_theirs.ts MODULE FILE QUESTION  recalls once and prints the best lesson
const [, , module, file, question] = process.argv;
const { Mnemopi } = await import(module!);
// As its host opens a bank, without embeddings and without a model.
const bank = { bank: "default", sessionId: "default", channelId: "default", authorId: "coding-agent", authorType: "agent" };
const memory = new Mnemopi({ ...bank, dbPath: file, noEmbeddings: true, llm: false });
// As its `learn` tool keeps a lesson.
const kept = { source: "coding-agent-learn", importance: 0.8, scope: "bank", veracity: "tool", memoryType: "fact" };
const metadata = { session_id: "bench", cwd: "/work", context: null, tool: "learn" };
const learn = { ...kept, metadata, extract: true, extractEntities: true };

if (question !== undefined) {
	console.log((await memory.recall(question, 5))[0]?.content ?? "");
	memory.close();
	process.exit(0);
}
const cpu = () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6;
for await (const line of console) {
	const asked = JSON.parse(line);
	const answer: any = { seconds: [], found: [] };
	const used = cpu();
	if (asked.do === "count") {
		answer.count = memory.db.query("SELECT count(*) AS c FROM working_memory").get().c;
	} else if (asked.do === "fill") {
		memory.beam.rememberBatch(asked.texts.map((content: string) => ({ ...kept, content })));
	} else {
		for (const text of asked.texts) {
			const start = performance.now();
			const said = asked.do === "recall" ? await memory.recall(text, 5) : memory.remember(text, learn);
			answer.seconds.push((performance.now() - start) / 1e3);
			answer.found.push(asked.do === "recall" ? said.map((one: any) => one.content) : null);
		}
	}
	answer.cpu = cpu() - used;
	await memory.flushExtractions();
	console.log(JSON.stringify(answer));
}
memory.close();
