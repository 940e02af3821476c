"""The commonest words of English: those that carry grammar, and those people wrap a request in."""

from __future__ import annotations

_FUNCTION = """
    a an the this that these those i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves one ones someone
    somebody anyone anybody everyone everybody something anything everything nothing nobody none each every either
    neither both some any all no such same other others another what which who whom whose when where why how whether
    whatever whichever whoever whenever wherever however am is are was were be been being do does did doing done has
    have had having can could shall should will would may might must ought cannot and or but nor so yet if then else
    than because as since while although though unless until till once of at by for with about against between among
    into through during before after above below to from in out on onto off over under upon via within without
    toward towards across along around behind beside besides beyond near per up down not only own just also too very
    quite rather almost already still even ever never again further here there now thus hence therefore more most
    much many few fewer less least lot lots several enough m s t d ve re ll don doesn didn isn aren wasn weren hasn
    haven hadn won wouldn couldn shouldn mustn ain let lets im ive youre dont cant
"""
_ASKING = """
    please help want wants need needs like tell give show know find looking look get got make sure thanks thank hey
    hi hello going wondering interested question answer ask use using
"""

FUNCTION = frozenset(_FUNCTION.split())
"""Words a question is asked with, which say nothing of what it is about."""
ASKING = frozenset(_ASKING.split())
"""Words that may be what a question is about, but mostly only ask."""
