"""Small data sets in the true layouts: each has a picture that is not there and a line that does not fit.

Lines end the Windows way in some, start with a byte-order mark in others, carry trailing spaces and ids given as text.
"""

from pathlib import Path

from .made_files import BOM, picture, write, write_json
from .made_outfits import MADE_OUTFITS


def folder(at: Path) -> None:
    picture(at / "boots" / "a.jpg")
    picture(at / "b.png")


def files(at: Path) -> None:
    write(at / "poems" / "a.txt", "a line")
    picture(at / "b.png")


def table(at: Path) -> None:
    picture(at / "a.jpg")
    write(at / "catalog.csv", BOM + "image,item", "a.jpg,1 ", "gone.jpg,2", "b.jpg,3,what is this", end="\r\n")


def triplets(at: Path) -> None:
    picture(at / "images" / "clay.jpg")
    write(at / "catalog.csv", "image,item", "images/clay.jpg,clay", "images/steel.jpg,steel", "images/x.jpg")
    write(at / "triplets.csv", "split,other,reference,chosen", "train,steel,clay,clay", "train,clay", end="\r\n")


def oml(at: Path) -> None:
    picture(at / "images" / "a.jpg")
    picture(at / "images" / "b.jpg")
    write(
        at / "df.csv",
        BOM + "label,path,split,is_query,is_gallery,category,x_1,x_2,y_1,y_2",
        "7,images/a.jpg,train,,,rug,1,9,2,10",
        "8,images/b.jpg,validation,True,1.0,rug,,,,",
        "8,images/gone.jpg,validation,0,1,rug,,,,",
        "8,images/b.jpg,holiday,0,1,rug,,,,",
        end="\r\n",
    )


def coco(at: Path) -> None:
    picture(at / "val2017" / "a.jpg")
    picture(at / "val2017" / "b.jpg")
    write_json(
        at / "annotations" / "instances_val2017.json",
        {
            "images": [
                {"id": 1, "file_name": "a.jpg", "width": 24, "height": 16},
                {"id": "2", "file_name": "b.jpg"},
                {"id": 3, "file_name": "gone.jpg"},
            ],
            "categories": [{"id": 7, "name": "shoe"}, {"id": 8, "name": "lace"}],
            "annotations": [
                {"id": 1, "image_id": 1, "category_id": 8, "bbox": [1, 1, 4, 2], "area": 8},
                {"id": 2, "image_id": 1, "category_id": 7, "bbox": [0, 0, 20, 10]},
                {"id": 3, "image_id": 9, "category_id": 7, "bbox": [0, 0, 20, 10]},
            ],
        },
    )


def fiftyone(at: Path) -> None:
    picture(at / "data" / "a.jpg")
    picture(at / "data" / "b.jpg")
    box = {"label": "lace", "bounding_box": [0.1, 0.2, 0.5, 0.5]}
    write_json(
        at / "samples.json",
        {
            "samples": [
                {"filepath": "data/a.jpg", "tags": ["mine", "train"], "ground_truth": {"label": "shoe"}},
                {"filepath": "data/b.jpg", "tags": [], "seen": {"_cls": "Detections", "detections": [box]}},
                {"filepath": "data/gone.jpg", "tags": None, "ground_truth": None},
                {"tags": []},
            ]
        },
        BOM,
    )


def inshop(at: Path) -> None:
    dress, denim = "img/WOMEN/Dresses/id_00000002/02_1_front.jpg", "img/MEN/Denim/id_00000080/01_1_front.jpg"
    picture(at / "Img" / dress)
    picture(at / "Img" / denim)
    write(
        at / "Eval" / "list_eval_partition.txt",
        "5",
        "image_name item_id evaluation_status",
        f"{dress}      id_00000002    train  ",
        f"{denim}      id_00000080    query",
        "img/MEN/Denim/id_00000080/02_2_side.jpg      id_00000080    gallery",
        "img/x.jpg id_3",
        "img/MEN/Denim/id_00000081/02_2_side.jpg      id_00000081    holiday",
        end="\r\n",
    )
    write(
        at / "Anno" / "list_bbox_inshop.txt",
        "3",
        "image_name  clothes_type  pose_type  x_1  y_1  x_2  y_2",
        f"{dress}      3  1  050  030  200  246",
        f"{denim}      2  1  80  30  80  246",
    )


def consumer2shop(at: Path) -> None:
    base = "img/DRESSES/Skirt/id_00000001"
    picture(at / base / "comsumer_01.jpg")
    picture(at / base / "shop_01.jpg")
    write(
        at / "Eval" / "list_eval_partition.txt",
        "4",
        "image_pair_name_1 image_pair_name_2 item_id evaluation_status",
        f"{base}/comsumer_01.jpg   {base}/shop_01.jpg   id_00000001   train",
        f"{base}/comsumer_02.jpg   {base}/shop_01.jpg   id_00000001   train",
        f"{base}/comsumer_03.jpg   {base}/shop_01.jpg   id_00000001",
    )
    write(
        at / "Anno" / "list_bbox_consumer2shop.txt",
        "1",
        "image_name clothes_type source_type x_1 y_1 x_2 y_2",
        f"{base}/comsumer_01.jpg 3 2 10 20 90 110",
    )


def vsd(at: Path) -> None:
    query, near, far = (f"img/WOMEN/Dresses/id_0000000{n}/01_1_front.jpg" for n in (1, 2, 3))
    wild = "img/TOPS/T_Shirt/id_00000009/comsumer_01.jpg"
    for name in (query, near, wild):
        picture(at / name)
    metadata = {
        "images": [
            {"id": "1", "path": query, "phase": "query", "bbox": [5, 6, 40, 30], "category": "Dresses"},
            {"id": 2, "path": near, "phase": "gallery", "bbox": {"x1": "1", "y1": 2, "x2": 9, "y2": 8}, "color": "red"},
            {"id": "3", "path": far, "phase": "gallery", "bbox": [4, 4, 0, 9]},
            {"id": "9", "path": wild, "phase": "search"},
            {"id": "4", "phase": "gallery"},
        ]
    }
    write_json(at / "metadata.json", metadata, BOM)
    write_json(at / "test_seeds.json", {"seeds": [query], "gallery_phases": ["gallery"]})
    write_json(at / "train_seeds.json", {"seeds": [near]})
    write_json(at / "test_manifest.json", {"images": [{"path": query}, {"path": near}, {"path": wild}]})
    write_json(
        at / "test_tags.json",
        [{"key": [query, near], "value": "1"}, {"key": [query, far], "value": 0}, {"key": [query], "value": 1}],
    )


def cub(at: Path) -> None:
    write(at / "images.txt", "1 001.Albatross/A_1.jpg", "2 002.Auk/B_1.jpg  ", "3 002.Auk/B_2.jpg", "four", end="\r\n")
    write(at / "classes.txt", "1 001.Albatross", "2 002.Auk")
    write(at / "image_class_labels.txt", "1 1", "2 2", "3 2")
    write(at / "train_test_split.txt", "1 1", "2 0", "3 perhaps")
    write(at / "bounding_boxes.txt", "1 60.0 27.0 325.0 304.0", "2 1.5 2.0 0.0 9.0")
    picture(at / "images" / "001.Albatross" / "A_1.jpg")
    picture(at / "images" / "002.Auk" / "B_1.jpg")


def cars(at: Path) -> None:
    import numpy as np
    from scipy.io import savemat

    fields = ["relative_im_path", "bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "test"]
    annotations = np.zeros((1, 3), dtype=[(name, object) for name in fields])
    annotations[0, 0] = ("car_ims/000001.jpg", 112, 7, 853, 717, 1, 0)
    annotations[0, 1] = ("car_ims/000002.jpg", 1, 1, 9, 9, 2, 1)
    annotations[0, 2] = ("car_ims/000003.jpg", 9, 1, 1, 9, 2, 1)
    names = np.array([["AM General Hummer SUV 2000", "Acura RL Sedan 2012"]], dtype=object)
    at.mkdir(parents=True, exist_ok=True)
    savemat(at / "cars_annos.mat", {"annotations": annotations, "class_names": names})
    picture(at / "car_ims" / "000001.jpg")


def cars_kit(at: Path) -> None:
    import numpy as np
    from scipy.io import savemat

    fields = ["bbox_x1", "bbox_y1", "bbox_x2", "bbox_y2", "class", "fname"]
    train = np.zeros((1, 2), dtype=[(name, object) for name in fields])
    train[0, 0] = (39, 116, 569, 375, 2, "00001.jpg")
    train[0, 1] = (36, 116, 868, 587, 1, "00002.jpg")
    test = np.zeros((1, 1), dtype=[(name, object) for name in fields if name != "class"])
    test[0, 0] = (30, 52, 246, 147, "00001.jpg")
    (at / "devkit").mkdir(parents=True)
    savemat(at / "devkit" / "cars_train_annos.mat", {"annotations": train})
    savemat(at / "devkit" / "cars_test_annos.mat", {"annotations": test})
    savemat(at / "devkit" / "cars_meta.mat", {"class_names": np.array([["Hummer", "Acura"]], dtype=object)})
    picture(at / "cars_train" / "00001.jpg")
    picture(at / "cars_test" / "00001.jpg")


def sop(at: Path) -> None:
    header = "image_id class_id super_class_id path"
    write(at / "Ebay_train.txt", header, "1 1 1 bicycle_final/111_0.JPG", "2 1 1 bicycle_final/111_1.JPG", end="\r\n")
    write(at / "Ebay_test.txt", header, "3 2 2 coffee_maker_final/222_0.JPG", "4 two 2 coffee_maker_final/222_1.JPG")
    picture(at / "bicycle_final" / "111_0.JPG")
    picture(at / "coffee_maker_final" / "222_0.JPG")


def zappos(at: Path) -> None:
    images = at / "ut-zap50k-images-square"
    names = ["Boots/Ankle/Bogs Kids/7968714.72.jpg", "Boots/Ankle/Levi's® Kids/100.3.jpg", "Shoes/Heels/Vans/5.6.jpg"]
    for name in names[:2]:
        picture(images / name)
    write(
        at / "ut-zap50k-data" / "meta-data.csv",
        "CID,Category,SubCategory,HeelHeight,Closure,Gender",
        "7968714-72,Boots,Ankle,1in - 1 3/4in,Zipper,Girls;Boys",
        "100-3,Boots,Ankle,,Lace up,Boys",
        "99-1,Shoes,Heels,High heel,,Women",
        "1,2,3",
    )
    write(at / "filenames.json", *names)
    write(at / "tripletlists" / "class_tripletlist_train.txt", "0 2 1", "0 1 3", end="\r\n")
    write(at / "tripletlists" / "heel_tripletlist_test.txt", "1 0 2")


def coco_panoptic(at: Path) -> None:
    picture(at / "val2017" / "000000000139.jpg", size=(40, 20))
    content = {
        "images": [
            {"id": 139, "file_name": "000000000139.jpg", "width": 40, "height": 20},
            {"id": 285, "file_name": "000000000285.jpg", "width": 10, "height": 10},
        ],
        "categories": [
            {"id": 1, "name": "person", "supercategory": "person", "isthing": 1},
            {"id": 199, "name": "wall-other-merged", "supercategory": "wall", "isthing": 0},
        ],
        "annotations": [
            {
                "image_id": "139",
                "file_name": "000000000139.png",
                "segments_info": [
                    {"id": 3226956, "category_id": 1, "area": 200, "bbox": [4, 2, 10, 8], "iscrowd": 0},
                    {"id": 6979964, "category_id": 199, "area": 400, "bbox": [0, 0, 40, 20], "iscrowd": 0},
                ],
            },
            {
                "image_id": 285,
                "segments_info": [{"id": 1, "category_id": 1, "area": 50, "bbox": [0, 0, 9, 9], "iscrowd": 1}],
            },
            {"image_id": 632},
        ],
    }
    write_json(at / "annotations" / "panoptic_val2017.json", content)


def vaw(at: Path) -> None:
    picture(at / "VG_100K_2" / "2373241.jpg")
    good = {
        "image_id": "2373241",
        "instance_id": "2373241004",
        "instance_bbox": [0.0, 182.5, 500.16, 148.5],
        "object_name": "floor",
        "positive_attributes": ["tiled", "gray"],
        "negative_attributes": ["multicolored"],
    }
    other = {**good, "image_id": 5, "instance_id": 6}
    write_json(at / "train_part1.json", [good, {**good, "instance_bbox": [1, 2]}])
    write_json(at / "val.json", [other])


def genecis(at: Path) -> None:
    def coco(number: object) -> dict[str, object]:
        return {"val_image_id": number}

    def crop(number: object) -> dict[str, object]:
        return {"image_id": number, "instance_bbox": [10, 20, 30, 40]}

    picture(at / "val2017" / "000000000001.jpg")
    template = {"condition": "wall", "reference": coco(1), "target": coco("2"), "gallery": [coco(3), coco(4)]}
    again = {**template, "gallery": [coco(3), coco("2")]}
    write_json(at / "focus_object.json", [template, again, {"condition": "sky", "reference": coco(1)}])
    attribute = {"condition": "color", "reference": crop(11), "target": crop("12"), "gallery": [crop(11)]}
    write_json(at / "change_attribute.json", [attribute])


def cirr(at: Path) -> None:
    names = [f"dev-{n}-0-img0" for n in range(6)]
    picture(at / "img_raw" / "dev" / f"{names[0]}.png")
    placed: dict[str, object] = {name: f"./dev/{name}.png" for name in names}
    write_json(at / "image_splits" / "split.rc2.val.json", {**placed, "dev-9-0-img0": None})
    good = {
        "pairid": 12060,
        "reference": names[0],
        "target_hard": names[1],
        "target_soft": {names[1]: 1.0, names[2]: -1.0},
        "caption": "show three bottles of soft drink ",
        "img_set": {"id": 36, "members": names},
    }
    write_json(at / "captions" / "cap.rc2.val.json", [good, {**good, "pairid": "none"}, {**good, "pairid": "12061"}])
    test = {key: good[key] for key in ("pairid", "reference", "caption", "img_set")}
    write_json(at / "captions" / "cap.rc2.test1.json", [{**test, "reference": "test1-1-0-img0"}])


def fashioniq(at: Path) -> None:
    picture(at / "images" / "B008BHCT58.jpg")
    picture(at / "images" / "B003FGW7MK.png")
    write_json(at / "image_splits" / "split.dress.val.json", ["B008BHCT58", "B003FGW7MK", "B00GONE", None])
    good = {"target": "B003FGW7MK", "candidate": "B008BHCT58", "captions": ["is solid black", "is longer"]}
    write_json(at / "captions" / "cap.dress.val.json", [good, {**good, "captions": []}, {"candidate": "B00GONE"}])


def circo(at: Path) -> None:
    listed = [{"id": number, "file_name": f"{number:012d}.jpg"} for number in range(1, 8)]
    for entry in listed[:-1]:
        picture(at / "COCO2017_unlabeled/unlabeled2017" / str(entry["file_name"]))
    write_json(at / "COCO2017_unlabeled/annotations/image_info_unlabeled2017.json", {"images": listed})
    asked = {"id": 0, "reference_img_id": 1, "relative_caption": "has two dogs", "shared_concept": "a dog"}
    answers = {"target_img_id": 2, "gt_img_ids": [2, "5"], "semantic_aspects": ["cardinality"]}
    write_json(at / "annotations/val.json", [asked | answers, {"id": 1}])
    write_json(at / "annotations/test.json", [asked])


def mit_states(at: Path) -> None:
    for name in ("old armor", "new armor", "rusty armor", "ripe apple", "adj armor", "very old armor"):
        picture(at / "images" / name / "a.jpg")


def cc3m(at: Path) -> None:
    write(
        at / "Train_GCC-training.tsv",
        BOM + "a very typical bus station\thttp://a.net/1.jpg",
        "no address here",
        "http://a.net/2.jpg\tthe other way round",
        end="\r\n",
    )


def sbu(at: Path) -> None:
    urls = ["http://a.net/1.jpg", "http://a.net/2.jpg", None]
    write_json(at / "sbu-captions-all.json", {"image_urls": urls, "captions": ["a bus", "", "a car"]})


MADE = {
    "folder": folder,
    "files": files,
    "table": table,
    "triplets": triplets,
    "oml": oml,
    "coco": coco,
    "fiftyone": fiftyone,
    "inshop": inshop,
    "consumer2shop": consumer2shop,
    "vsd": vsd,
    "cub": cub,
    "cars": cars,
    "sop": sop,
    "zappos": zappos,
    "coco_panoptic": coco_panoptic,
    "vaw": vaw,
    "genecis": genecis,
    "cirr": cirr,
    "fashioniq": fashioniq,
    "circo": circo,
    "mit_states": mit_states,
    "cc3m": cc3m,
    "sbu": sbu,
    **MADE_OUTFITS,
}
FILES = {"table": "catalog.csv", "outfits": "outfits.csv"}
"""Readers that are given a file of the folder instead of the folder."""


def source(reader: str, at: Path) -> Path:
    """Make the small data set of a reader, and return what to give it."""
    MADE[reader](at)
    return at / FILES.get(reader, ".")
