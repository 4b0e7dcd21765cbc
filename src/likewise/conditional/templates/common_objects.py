"""Names of things that photographs of everyday scenes show, for naming a cut-out object whose name is not given."""

_NAMES = """
airplane animal apple arm awning back backpack bag ball balloon banana bar basket bat beach bear bed bench bike bird
blanket board boat book boot bottle bowl box boy branch bread bridge brick broccoli building bus bush cabinet cake
camera candle cap car carpet carrot cart cat chain chair cheese child clock cloth cloud coat collar computer
container cord couch counter cow cup curtain cushion desk dirt dish dog door drawer dress ear elephant engine eye
face fence field finger fire flag floor flower food foot fork frame fruit girl giraffe glass glasses glove grass
ground guitar hair hand handle hat head helmet hill horse house hydrant jacket jeans jersey key keyboard kite knife
lady lamp laptop leaf leg lemon letter light line log logo man mat microwave mirror monitor motorcycle mountain
mouse mouth mug napkin neck necklace nose number ocean onion orange oven pan pants paper parking path pavement
people pepper person phone photo picture pillar pillow pipe pizza plant plate player pole pot purse racket rail
railing rock roof room rope rug salad sand sandwich sauce sheep shelf shirt shoe shore shorts sidewalk sign sink
skateboard ski skirt sky snow snowboard sock sofa spoon stand statue stem step stone stool stove strap street stripe
suit suitcase sunglasses surfboard sweater table tail tie tile tire tomato toilet towel tower toy track traffic
train tray tree trees truck trunk t-shirt tv umbrella vase vegetable vehicle vest wall watch water wave wheel window
windshield wing wire woman wood writing zebra
"""
COMMON_OBJECTS = tuple(_NAMES.split())
