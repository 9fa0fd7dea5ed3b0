### Was trainiert wird und wie.

## Was die Adresse verlangt

settings_twice = { $name } kann in der Adresse nur einmal stehen.
settings_one_limit = In der Adresse kann nur eines von epochs, steps und seconds stehen.
settings_no_suite = Eine Suite namens „{ $value }“ gibt es nicht; es gibt: { $known }.
settings_no_workload = Ein Netz namens „{ $value }“ gibt es nicht; es gibt: { $known }.
settings_no_matrix = In der Adresse muss precision f16 oder f32 sein: Browser bieten Seiten keine Matrixeinheiten
    an. native-runner --precision f16-matrix nutzt sie, wo das Gerät sie nennt.
settings_no_precision = In der Adresse muss precision f16 oder f32 sein, ist aber „{ $value }“.
settings_no_feature = In der Adresse muss without Merkmale aus { $known } nennen, ist aber „{ $value }“.
settings_no_backend = Ein Backend namens „{ $value }“ hat die Seite nicht; es gibt: { $known }.
settings_two_backends = In der Adresse muss compare zwei oder mehr von { $known } nennen, ist aber „{ $value }“.
settings_no_seeds = In der Adresse muss seeds eine ganze Zahl von 1 bis { $most } sein, ist aber „{ $value }“.
settings_not_positive = Die Einstellung { $name } muss eine ganze Zahl ab 1 sein, ist aber „{ $value }“.
settings_no_seconds = Die Einstellung seconds muss größer als 0 und höchstens 3600 sein, ist aber „{ $value }“.
settings_no_seed = Der Seed muss eine ganze Zahl von 0 bis { $most } sein, ist aber „{ $value }“.
settings_no_learning_rate = Die Lernrate muss eine Zahl größer als 0 sein, etwa 0.01, ist aber „{ $value }“.
settings_no_switch = In der Adresse muss { $name } 1 oder 0 sein, ist aber „{ $value }“.
settings_unknown = In der Adresse steht, was dieser Seite nichts sagt: { $names }. Sie kennt { $known }.

## Was gewählt ist, in wenigen Worten, und was es kostet

settings_summary_suite = Suite „{ $suite }“ ({ $networks })
settings_summary_chosen = { $networks } gewählt
settings_precision = Zahlenformat { $precision }
settings_without = ohne { $features }
settings_seconds = { $seconds } s Training
settings_seed = Seed { $seed }
settings_back_end = { $backend } als Backend
settings_no_whole_suite = Netze, die keine ganze Suite sind
settings_consequence = Gewählt: { $reasons }. Damit ist der Lauf kein Standardlauf: Er wird angezeigt, aber nie
    gewertet.
settings_a_minute = Etwa eine Minute
settings_last_time = Etwa { $time }, wie beim letzten Mal in diesem Browser
settings_minutes = Höchstens { $minutes } Minuten Training
settings_digits = 11 MB handgeschriebene Ziffern
settings_photographs = 170 MB Fotos
settings_bundle = { $size } { $what }
settings_no_fetch = { $time }; die Geschichten entstehen dabei selbst.
settings_fetch = { $time }; lädt beim ersten Mal { $what }.
settings_memory = Belegt etwa { $size } im Speicher der GPU.
settings_frameworks_not_ranked = Läufe anderer Frameworks werden nie gewertet.
settings_only_suites_ranked = Gewertet werden nur ganze Suiten.

## Wie sie gewählt werden

settings_settings = Einstellungen:
settings_as_suite = wie in der Suite
settings_empty = Leer gilt, was die Suite vorgibt
settings_title_rate = Lernrate
settings_title_seconds = Höchstens so viele Sekunden Training
settings_f16 = f16, wo das Gerät es kann
settings_networks = Netze:
settings_one_by_one = Oder einzeln
settings_engine = Rechenkern:
settings_what_computes = Was rechnet
settings_no_onnx = ONNX Runtime Web ist nicht dabei: Seit Version 1.20 trainiert es nicht mehr.
settings_compare = Backends vergleichen
settings_compare_note = Alle trainieren dasselbe mit demselben Seed, auf einer eigenen Seite.
