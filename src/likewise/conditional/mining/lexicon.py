"""The few words that the grammar of captions has to know."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREPOSITIONS = _words(
    "about above across against along alongside amid among amongst around at atop before behind below beneath beside "
    "besides between beyond by down during for from in inside into like near of off on onto opposite outside over past "
    "through throughout toward towards under underneath up upon via vs with within without after as"
)
"""Tagged as something else now and then; before a noun phrase each of them is one."""

LONG_PREPOSITIONS = (
    ("in", "front", "of"),
    ("on", "top", "of"),
    ("at", "the", "top", "of"),
    ("in", "the", "middle", "of"),
    ("next", "to"),
    ("close", "to"),
    ("due", "to"),
    ("out", "of"),
    ("because", "of"),
    ("instead", "of"),
    ("outside", "of"),
    ("inside", "of"),
    ("ahead", "of"),
    ("full", "of"),
    ("along", "with"),
    ("together", "with"),
    ("away", "from"),
    ("according", "to"),
    ("prior", "to"),
    ("in", "to"),
)

CLAUSE_OPENERS = _words("as after before because if like since than that though until when where while")
"""Words that open a clause when a verb follows their noun phrase: "as the sun sets"."""

BE = _words("be am is are was were been being 's 're 'm")
AUXILIARIES = BE | _words("have has had having do does did get gets got will would can could may might")

QUANTITIES = _words(
    "array assortment bunch class collection couple crowd dozen dozens flock group groups handful herd hundreds kind "
    "kinds lot lots majority million millions number one ones pack pair pairs pile plenty range rest row rows school "
    "selection series set some sort stack team thousands ton tons type types variety"
)
"""Before "of" they only count: "a group of people on the beach" is about people."""

DEPICTIONS = _words(
    "close-up clipart closeup concept detail details drawing footage graphic illustration image images painting photo "
    "photograph photographs photos picture pictures portrait render rendering shot shots silhouette silhouettes sketch "
    "still time-lapse vector video view views"
)
"""What follows their "of" is what the rest of the caption speaks about: "portrait of a woman wearing a hat"."""

PRONOUNS = _words(
    "all another any anyone anything both each everyone everybody everything few i it many me mine most much no nobody "
    "none nothing one other others she someone something such that them there these they this those us we what which "
    "who whoever you he him her here"
)

VERBS = _words(
    "arrives attends blows catches celebrates climbs crosses dances drives eats enjoys enters faces fights flies grows "
    "hangs holds hosts jumps kisses leads leaves lies lifts lines looks makes meets opens passes performs places plays "
    "poses prepares presents races reaches reads rests rides rises runs sets shines shoots shows signs sings sits "
    "sleeps smiles speaks stands stares stops swims takes talks turns visits waits walks watches waves "
    "wears works"
)
"""Third persons that a lexicon of tags takes for plural nouns; after a singular noun they are what it does."""

TIMES = _words("monday tuesday wednesday thursday friday saturday sunday today tonight tomorrow yesterday")
"""Adverbs in the dress of nouns."""

SHADES = _words("bright dark deep hot light navy neon pale royal sky")
"""Before a colour they belong to it."""

UNDESCRIBING = _words(
    "able additional another certain different else enough entire few first former fourth free full general good great "
    "important last least less main many more most much new next no nice non only other others own particular possible "
    "real same second several similar single special such third total various very whole"
)
"""Adjectives that describe nothing one could see in one picture."""

MATERIALS_AND_SHADES = _words(
    "bronze camo charcoal checked copper corduroy cotton cream crimson denim fur golden grey indigo ivory khaki knit "
    "knitted lace lavender linen magenta mauve metallic mustard navy nylon olive peach polyester purple rose satin "
    "silk spotted steel straw suede taupe turquoise tweed velvet violet wood wool woollen"
)
"""Words for what a thing is made of or coloured, beside those that attribute tasks know."""
