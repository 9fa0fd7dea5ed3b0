### Trying the network that was just trained.

draw_title = Draw a digit
draw_title_images = Try the network
draw_network = Try { $network }, which you just trained in this tab.
draw_here = Draw here
draw_clear = Clear
draw_answer = Prediction: { $class } ({ $percent })
draw_probabilities = Probabilities
draw_examples = Test images
