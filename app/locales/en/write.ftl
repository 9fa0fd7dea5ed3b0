### Continuing a text with the language model that was just trained.

write_title = Continue a text
write_network = Try { $network }, which you just trained in this tab.
write_beginning = Beginning
write_temperature = Temperature
write_temperature_note = Low: the most probable characters. High: more surprises.
write_now = Continue
write_copy = Copy text and result
write_shared = “{ $text }” Written by a language model that I trained in a browser tab. { $result }
