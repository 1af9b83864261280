import datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from lookalike.catalog.readers.table import read_table
from lookalike.core.errors import ArgumentError, CatalogError, LookalikeError


def table(tmp_path, text, name="catalog.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


def refused(error, *message):
    for part in message:
        assert part in str(error.value), str(error.value)


def test_all_columns(tmp_path):
    text = "Image , PATH,item,category,role,split,Colour\n007,p/1.jpg,00,sofa,Query,VAL,red\n8,,,,,,\n"
    rows = read_table(table(tmp_path, text))
    assert rows.image.tolist() == ["007", "8"]
    assert rows.path.tolist() == ["p/1.jpg", "8"]
    assert rows.item.tolist() == ["00", "8"]
    assert rows.category.tolist() == ["sofa", ""]
    assert rows.role.tolist() == ["query", "both"]
    assert rows.split.tolist() == ["validation", ""]
    assert {name: values.tolist() for name, values in rows.columns.items()} == {"Colour": ["red", ""]}
    assert rows.position.tolist() == [0, 1]
    assert rows.root == tmp_path
    (note,) = rows.notes
    assert "1 category, 2 items, 2 photos" in note


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(tmp_path, delimiter):
    rows = read_table(
        table(tmp_path, delimiter.join(["image", "a,b;c"]).replace("a,b;c", '"a,b;c"') + f"\n1{delimiter}2\n")
    )
    assert rows.image.tolist() == ["1"]
    assert rows.columns["a,b;c"].tolist() == ["2"]
    assert len(rows.notes) == (1 if delimiter == "," else 2)


def test_the_delimiter_that_shows_an_image_column_wins(tmp_path):
    rows = read_table(table(tmp_path, "image|a,b,c,d\nx|1,2\n"))
    assert rows.columns["a,b,c,d"].tolist() == ["1,2"]


def test_one_column_is_enough(tmp_path):
    assert read_table(table(tmp_path, "image\na b.jpg\nc.jpg", "list.txt")).image.tolist() == [
        "a b.jpg",
        "c.jpg",
    ]


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("cp1252", "Windows-1252"),
        ("latin-1", "Windows-1252"),
    ],
)
def test_encodings(tmp_path, encoding, note):
    rows = read_table(table(tmp_path, "image;category\ncafé.jpg;Stühle\n", encoding=encoding))
    assert rows.image.tolist() == ["café.jpg"]
    assert rows.category.tolist() == ["Stühle"]
    messages = [text for text in rows.notes if "UTF-8" in text]
    assert [f"read as {note}" in text for text in messages] == ([True] if note else [])


def test_bytes_that_windows_1252_lacks(tmp_path):
    rows = read_table(table(tmp_path, b"image,category\na\x81.jpg,x\n"))
    assert rows.image.tolist() == ["a\x81.jpg"]
    assert "Latin-1" in rows.notes[1]


def test_quotes_newlines_and_blank_lines(tmp_path):
    text = '\nimage,note\r\n"a, ""b"".jpg",x\r\n\r\n"new\nline.jpg","2"\r\n,\r\nc.jpg,3\r\n'
    rows = read_table(table(tmp_path, text))
    assert rows.image.tolist() == ['a, "b".jpg', "new\nline.jpg", "c.jpg"]
    assert rows.position.tolist() == [0, 1, 2]


def test_spaces_after_delimiters_and_old_line_ends(tmp_path):
    assert read_table(table(tmp_path, "image, category\na.jpg, sofa\n")).category.tolist() == ["sofa"]
    assert read_table(table(tmp_path, "image,category\ra.jpg, sofa\r")).category.tolist() == [" sofa"]


def test_nameless_columns(tmp_path):
    rows = read_table(table(tmp_path, ",image,\n0,a.jpg,\n1,b.jpg,\n"))
    assert {name: values.tolist() for name, values in rows.columns.items()} == {"column 1": ["0", "1"]}


def test_columns_renames(tmp_path):
    path = table(tmp_path, "image;Filename ;sku\n1;a.jpg;007\n")
    rows = read_table(path, columns={"image": "filename", "item": "SKU"})
    assert rows.image.tolist() == ["a.jpg"]
    assert rows.item.tolist() == ["007"]
    assert list(rows.columns) == ["image (unused)"]
    with pytest.raises(CatalogError) as error:
        read_table(path, columns={"image": "file"})
    refused(error, "no column 'file'", "'sku'")
    with pytest.raises(ArgumentError) as error:
        read_table(path, columns={"photo": "sku"})
    refused(error, "'photo'", "image, path, item, category, role, split")


def test_no_image_column(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "id,file_name,category\n1,a.jpg,x\n"))
    refused(error, "no column 'image'", "'id', 'file_name' and 'category'", "--column image=file_name")
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "imgae;x\n1;2\n"))
    refused(error, "'imgae'", "--column image=imgae")


def test_two_image_columns(tmp_path):
    with pytest.raises(CatalogError, match="2 columns 'image'"):
        read_table(table(tmp_path, "image,Image\n1,2\n"))
    for header in ("image,image,a", "image,a,a "):
        with pytest.raises(CatalogError, match="two columns named"):
            read_table(table(tmp_path, f"{header}\n1,2,3\n"))


def test_duplicate_ids_name_their_lines(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, 'image,note\na,"x\ny"\nb,1\na,2\nb,3\na,4\n'))
    refused(error, "image id 'a' in lines 2, 5 and 7", "1 other")
    with pytest.raises(CatalogError) as error:
        read_table(polars.DataFrame({"image": [7, 8, 7]}))
    refused(error, "'7' in rows 0 and 2 (counted from 0)")


def test_blank_ids_name_their_lines(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "image,note\na,1\n  ,2\n,3\n"))
    refused(error, "no image id in lines 3 and 4")
    with pytest.raises(CatalogError) as error:
        read_table(polars.DataFrame({"image": ["a", None]}))
    refused(error, "no image id in row 1 (counted from 0)")


def test_unknown_roles_and_splits(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "image,role\na,both\nb,quary\nc,x\n"))
    refused(error, "role 'quary' and 'x' in lines 3 and 4", "query, gallery, both")
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "image,split\na,dev\n"))
    refused(error, "split 'dev' in line 2", "train, validation, test")


def test_ragged_rows(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, "image,a\nx,1\ny,1,2\nz\n"))
    refused(error, "line 3 has 3 fields", "header has 2", "2 such rows")


def test_loose_quotes(tmp_path):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, 'image,a\nx,1\n"y,1\nz,2\n'))
    refused(error, "line 3: ", "Close every quote")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line"),
        ("\n \n", "no line"),
        ("image,category\n", "no rows"),
        ("image,category\n,\n", "no rows"),
        ("image\na\n".encode("utf-16-le"), "is not text"),
        (b"\xff\xfei", "cannot be read"),
    ],
)
def test_empty_and_foreign_files(tmp_path, text, message):
    with pytest.raises(CatalogError) as error:
        read_table(table(tmp_path, text))
    refused(error, message)


def test_paths_that_are_no_table(tmp_path):
    for path, message in (
        (tmp_path / "none.csv", "does not exist"),
        (tmp_path, "is a folder"),
        (table(tmp_path, "x", "a.xlsx"), "ends in .xlsx"),
        (table(tmp_path, "x", "a.parquet"), "as Parquet"),
    ):
        with pytest.raises(CatalogError, match=message):
            read_table(path)
    path = table(tmp_path, "image\na\n")
    with pytest.raises(CatalogError, match=r"images is .*none"):
        read_table(path, images=tmp_path / "none")
    assert read_table(path, images=tmp_path.parent).root == tmp_path.parent


def test_parquet(tmp_path):
    path = tmp_path / "a[1] *.parquet"
    polars.DataFrame(
        {
            "image": [7, 8],
            "item": [70, None],
            "split": ["test", None],
            "day": [datetime.date(2024, 1, 2), None],
        }
    ).write_parquet(path)
    rows = read_table(path)
    assert rows.image.tolist() == ["7", "8"]
    assert rows.item.tolist() == ["70", "8"]
    assert rows.split.tolist() == ["test", ""]
    assert rows.columns["day"].tolist() == ["2024-01-02", ""]
    assert rows.root == tmp_path


@pytest.mark.parametrize("make", [polars.DataFrame, pandas.DataFrame, pyarrow.table, dict])
def test_frames(make):
    rows = read_table(make({"image": ["007", "b"], "item": [1, 2], "price": [1.0, 2.5]}))
    assert rows.image.tolist() == ["007", "b"]
    assert rows.item.tolist() == ["1", "2"]
    assert rows.columns["price"].tolist() == ["1.0", "2.5"]
    assert rows.root is None


def test_polars_kinds():
    frame = polars.LazyFrame({"image": ["a", "b"], "category": ["x", "y"], "tags": [["p"], []]}).with_columns(
        polars.col("category").cast(polars.Categorical)
    )
    rows = read_table(frame)
    assert rows.category.tolist() == ["x", "y"]
    assert rows.columns["tags"].tolist() == ["['p']", "[]"]


def test_pandas_gaps():
    frame = pandas.DataFrame(
        {
            "image": pandas.array([1, 2, 3], dtype="Int64"),
            "item": [7, None, 8],
            "category": ["x", None, np.nan],
            "when": [pandas.Timestamp("2024-01-02"), pandas.NaT, pandas.NaT],
            5: pandas.Categorical(["u", None, "v"]),
        },
        index=[9, 9, 9],
    )
    rows = read_table(frame)
    assert rows.image.tolist() == ["1", "2", "3"]
    assert rows.item.tolist() == ["7", "2", "8"]
    assert rows.category.tolist() == ["x", "", ""]
    assert rows.columns["5"].tolist() == ["u", "", "v"]
    assert rows.columns["when"].tolist() == ["2024-01-02 00:00:00", "", ""]


def test_cells_of_any_kind():
    frame = pandas.DataFrame(
        {"image": ["a", "b"], "vector": [np.zeros(2), np.ones(2)], "n": np.float32([1, np.nan])}
    )
    assert read_table(frame).columns["vector"].tolist() == ["[0. 0.]", "[1. 1.]"]
    assert read_table({"image": np.array([7, 8]), "n": np.float32([0.5, np.nan])}).columns["n"].tolist() == [
        "0.5",
        "",
    ]


def test_frames_that_are_none():
    for frame in (
        7,
        ["a.jpg"],
        {"image": []},
        {},
        {"image": ["a"], "item": []},
        pandas.DataFrame([[1, 2]], columns=["image"] * 2),
    ):
        with pytest.raises(LookalikeError):
            read_table(frame)


def test_every_value_is_text(tmp_path):
    rows = read_table(polars.DataFrame({"image": [1, 2], "n": [None, True]}))
    for column in (
        rows.image,
        rows.path,
        rows.item,
        rows.category,
        rows.role,
        rows.split,
        *rows.columns.values(),
    ):
        assert column.dtype == object
        assert {type(value) for value in column} == {str}
