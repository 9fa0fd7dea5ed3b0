### Die Dokumente des Repositorys als Seiten. Wie jedes heißt, steht in app/documents.json.

documents_title = Dokumente
documents_api_about = Alle Aufrufe der Bestenliste, für Menschen und Programme.
documents_english = Dieses Dokument ist auf Englisch.
documents_unknown = Dieses Dokument gibt es nicht
documents_no_folder = die Seite sagt nicht, wo ihre Dokumente sind (<meta name="{ $name }">), wurde also nicht vollständig gebaut; `cargo xtask run` baut sie neu
