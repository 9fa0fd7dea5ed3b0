### Was trainiert wird und wie.

## Was die Adresse verlangt

settings_once = { $names } darf in der Adresse nur einmal vorkommen.
settings_wrong = Die Einstellung { $name } muss { $expected } sein, ist aber „{ $value }“.
settings_one_of = einer der Werte { $known }
settings_two_of = eine Auswahl von mindestens zwei aus { $known }
settings_whole_number = eine ganze Zahl von { $least } bis { $most }
settings_positive = eine Zahl größer als 0
settings_positive_up_to = eine Zahl größer als 0 und höchstens { $most }
settings_unknown = Unbekannte Einstellungen in der Adresse: { $names }. Bekannt sind: { $known }.
settings_no_matrices = Diese Seite kann f16-matrix nicht nutzen: wgpu, ihre Bibliothek für WebGPU, kann die
    experimentellen Matrixeinheiten eines Browsers nicht anfordern. Das Programm native-runner kann sie nutzen.
settings_use_default = Standardeinstellungen verwenden

## Was gewählt ist, und was es kostet

settings_seed = Seed { $seed }
settings_no_whole_suite = keine ganze Suite
settings_consequence = Dieser Lauf wird nicht gewertet: { $reasons }.
settings_a_minute = Etwa eine Minute
settings_last_time = Etwa { $time }, wie beim letzten Mal
settings_minutes = Höchstens { $minutes } Minuten Training
settings_fetch = { $time }; lädt beim ersten Mal { $what } herunter.
settings_memory = Belegt etwa { $size } GPU-Speicher.

## Wie sie gewählt werden

settings_options = Optionen
settings_empty = Leer lassen für Standardwerte
settings_title_rate = Lernrate
settings_title_seconds = Höchstdauer des Trainings in Sekunden
settings_networks = Netze
settings_compare = Backends vergleichen
