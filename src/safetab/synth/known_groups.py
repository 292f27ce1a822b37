"""Well-known race groups with rough sizes: public knowledge, written down by hand, not taken from a file.

A size is how many thousand persons in the United States give this answer, in round figures. It is used only where a
group has no published size, and decides which of such groups are common. `REGIONS` also has the number of groups of
each regional group: those that are not named here get invented names.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache


class Major(Enum):
    """The major groups (iteration level 0), with the first words of their names."""

    WHITE = "White"
    BLACK = "Black or African American"
    AIAN = "American Indian and Alaska Native"
    ASIAN = "Asian"
    NHPI = "Native Hawaiian and Other Pacific Islander"
    OTHER = "Some Other Race"

    @property
    def number(self) -> int:
        """Its place among the major groups, from 0."""
        return list(Major).index(self)


@dataclass(frozen=True, slots=True)
class Region:
    """A regional group (iteration level 1; none where `name` is empty) and its detailed groups (level 2)."""

    major: Major
    name: str
    groups: int
    invented: str
    known: str


REGIONS: tuple[Region, ...] = (
    Region(
        Major.WHITE,
        "European",
        67,
        "{} European",
        "English 25400; German 15500; Irish 10900; Italian 6600; Polish 2900; Scottish 2000; French 1900; "
        "Norwegian 1300; Swedish 1200; Dutch 1000; Russian 960; European, not specified 900; Scandinavian 500; "
        "British 700; Greek 540; Portuguese 520; Ukrainian 480; Hungarian 400; Czech 380; Danish 340; Welsh 300; "
        "Finnish 230; Albanian 220; Romanian 240; Croatian 150; Armenian 260; Swiss 230; Slovak 170; Austrian "
        "160; Lithuanian 180; Serbian 120; Belgian 80; Bulgarian 80; Bosnian 100; Belarusian 40; Latvian 30; "
        "Icelandic 20; Maltese 15; Basque 18; Celtic 12; Estonian 9; Slovene 60; Macedonian 30; Moldovan 14; "
        "Cypriot 6; Cornish 3; Manx 1; Frisian 0.6; Luxembourger 10; Sicilian 25",
    ),
    Region(
        Major.WHITE,
        "Middle Eastern or North African",
        27,
        "{} Levantine",
        "Lebanese 420; Iranian 460; Egyptian 300; Syrian 130; Iraqi 200; Israeli 120; Turkish 150; Moroccan 90; "
        "Jordanian 80; Palestinian 110; Yemeni 80; Arab 190; Chaldean 60; Assyrian 70; Kurdish 20; Algerian 20; "
        "Saudi 18; Tunisian 8; Libyan 9; Kuwaiti 3; Emirati 1.5; Bahraini 0.4; Omani 0.3; Druze 2",
    ),
    Region(
        Major.WHITE,
        "Other White",
        10,
        "{} Settler",
        "Other White, not specified 96600; Cajun 110; Pennsylvania German 60; Afrikaner 18; Australian 60; "
        "New Zealander 14; Canadian 500",
    ),
    Region(
        Major.BLACK,
        "",
        1,
        "{}",
        "African American 24800",
    ),
    Region(
        Major.BLACK,
        "Sub-Saharan African",
        42,
        "{} African",
        "Nigerian 560; Ethiopian 310; Somali 190; Ghanaian 180; Kenyan 110; Liberian 100; Congolese 90; "
        "Cameroonian 80; Sudanese 60; Eritrean 50; Cabo Verdean 70; Sierra Leonean 40; South African 25; "
        "Senegalese 22; Ugandan 30; Gambian 18; Guinean 22; Togolese 14; Zimbabwean 13; Rwandan 11; Ivoirian 12; "
        "Malian 9; Zambian 8; Angolan 9; Tanzanian 8; Burundian 8; African 900",
    ),
    Region(
        Major.BLACK,
        "Caribbean",
        17,
        "{} Islander",
        "Jamaican 1050; Haitian 1010; Trinidadian and Tobagonian 200; Barbadian 60; West Indian 170; Bahamian 50; "
        "Grenadian 30; Saint Lucian 22; Vincentian 18; Dominica Islander 15; Antiguan and Barbudan 14; Kittian 9",
    ),
    Region(
        Major.BLACK,
        "Other Black or African American",
        2,
        "{} Black",
        "Other Black or African American, not specified 17000",
    ),
    Region(
        Major.AIAN,
        "Alaska Native",
        269,
        "Village of {}",
        "Yup'ik 14; Inupiat 13; Tlingit 9; Aleut 5; Alaskan Athabascan 7; Haida 2; Tsimshian 2; Alutiiq 2",
    ),
    Region(
        Major.AIAN,
        "American Indian",
        616,
        "{} Nation",
        "Navajo 310; Cherokee 210; Choctaw 62; Blackfeet 40; Chippewa 55; Lumbee 56; Apache 40; Muscogee 38; "
        "Sioux 60; Lakota 30; Pueblo 20; Chickasaw 20; Potawatomi 15; Seminole 11; Iroquois 17; Zuni 10; Hopi 9; "
        "Tohono O'odham 18; Osage 9; Comanche 9; Kiowa 7; Ute 6; Crow 8; Cheyenne 7; Yaqui 9; Menominee 7; Oneida "
        "11; Mohawk 9; Pima 7; Shoshone 6; Paiute 6; Yakama 7; Shawnee 3; Delaware 4; Arapaho 6; Seneca 5; Nez "
        "Perce 3; Pawnee 2; Omaha 3",
    ),
    Region(
        Major.AIAN,
        "Canadian Indian and French American Indian",
        196,
        "{} First Nation",
        "First Nations 3; Cree 4; Ojibwa 3; Mi'kmaq 3; Metis 4; Algonquin 2; Abenaki 3",
    ),
    Region(
        Major.AIAN,
        "Central American Indian",
        24,
        "{} of the Isthmus",
        "Maya 30; K'iche' 8; Lenca 3; Miskito 2; Pipil 2",
    ),
    Region(
        Major.AIAN,
        "Mexican Indian",
        41,
        "{} of the Sierra",
        "Aztec 60; Mixtec 14; Zapotec 9; Purepecha 5; Nahua 6; Otomi 3; Tarahumara 2; Huichol 1.5",
    ),
    Region(
        Major.AIAN,
        "South American Indian",
        28,
        "{} of the Andes",
        "Quechua 5; Inca 6; Aymara 1; Mapuche 1; Guarani 0.8",
    ),
    Region(
        Major.AIAN,
        "Caribbean Indian",
        8,
        "{} of the Islands",
        "Taino 14; Arawak 2; Carib 2",
    ),
    Region(
        Major.AIAN,
        "Mesoamerican Indian",
        3,
        "{} Mesoamerican",
        "Mesoamerican 4",
    ),
    Region(
        Major.ASIAN,
        "East Asian",
        7,
        "{} East Asian",
        "Chinese 4200; Korean 1480; Japanese 740; Taiwanese 210; Mongolian 28; Okinawan 9",
    ),
    Region(
        Major.ASIAN,
        "Central Asian",
        7,
        "{} Central Asian",
        "Afghan 110; Uzbek 40; Kazakh 25; Tajik 12; Kyrgyz 10; Turkmen 3",
    ),
    Region(
        Major.ASIAN,
        "South Asian",
        10,
        "{} South Asian",
        "Asian Indian 4400; Pakistani 560; Bangladeshi 240; Nepalese 205; Sri Lankan 50; Bhutanese 28; Sikh 70; "
        "Sindhi 4",
    ),
    Region(
        Major.ASIAN,
        "Southeast Asian",
        12,
        "{} Southeast Asian",
        "Filipino 3100; Vietnamese 1950; Cambodian 260; Hmong 330; Laotian 180; Thai 190; Burmese 210; Indonesian "
        "65; Malaysian 22; Singaporean 6",
    ),
    Region(
        Major.ASIAN,
        "Other Asian",
        11,
        "{} Asian",
        "Other Asian, not specified 830; Eurasian 20; Bengali 20; Punjabi 30; Tibetan 14",
    ),
    Region(
        Major.NHPI,
        "Polynesian",
        14,
        "{} Polynesian",
        "Native Hawaiian 200; Samoan 130; Tongan 47; Tahitian 2; Tokelauan 0.6; Maori 4",
    ),
    Region(
        Major.NHPI,
        "Micronesian",
        14,
        "{} Micronesian",
        "Chamorro 60; Guamanian 30; Marshallese 44; Palauan 8; Chuukese 12; Pohnpeian 4; Yapese 1.4; Kosraean "
        "1.2; Saipanese 1",
    ),
    Region(
        Major.NHPI,
        "Melanesian",
        7,
        "{} Melanesian",
        "Fijian 42; Papua New Guinean 0.8; Solomon Islander 0.4",
    ),
    Region(
        Major.OTHER,
        "",
        12,
        "{} origin",
        "Brazilian 480; Guyanese 210; Belizean 40; Surinamese 4; Aruban 2; Mestizo 40; Moorish 8",
    ),
    Region(
        Major.OTHER,
        "Multiracial or Multiethnic responses",
        5,
        "{} mixture",
        "Multiracial 320; Biracial 90; Mixed 200; Creole 70",
    ),
)


@cache
def parse(known: str) -> tuple[tuple[str, float], ...]:
    """The names and sizes in a text."""
    entries = [entry.strip().rsplit(" ", 1) for entry in known.split(";") if entry.strip()]
    return tuple((name, float(size)) for name, size in entries)


@cache
def sizes_by_name() -> dict[str, float]:
    """The size of every well-known race group, by its name in lower case."""
    return {name.lower(): size for region in REGIONS for name, size in parse(region.known)}
