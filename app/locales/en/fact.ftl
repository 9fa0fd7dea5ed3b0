### What differs around results, by the names of the API.

fact_suite = suite
fact_adapter = adapter
fact_vendor = vendor
fact_architecture = architecture
fact_claimed_name = claimed name
fact_api = api
fact_driver = driver
fact_backend = backend
fact_precision = precision
fact_client = client
fact_operating_system = operating system
fact_engine_version = engine version
fact_departures = departures from the suite
fact_source = source
fact_inferred = inferred
