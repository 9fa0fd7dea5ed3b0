### Was sich bei Ergebnissen sonst unterscheidet, nach den Namen der API.

fact_suite = Suite
fact_adapter = Adapter
fact_vendor = Hersteller
fact_architecture = Architektur
fact_claimed_name = angegebener Name
fact_api = Schnittstelle
fact_driver = Treiber
fact_backend = Backend
fact_precision = Zahlenformat
fact_client = Programm
fact_operating_system = Betriebssystem
fact_engine_version = Version des Rechenkerns
fact_departures = Abweichungen von der Suite
fact_source = Quelle des Namens
fact_inferred = vermutet
