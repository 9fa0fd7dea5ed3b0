// Returns the gray levels of the digits side by side.
() => {
    const images = [...document.querySelectorAll('.examples img')];
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [28 * images.length, 28];
    const context = canvas.getContext('2d');
    images.forEach((image, index) => context.drawImage(image, 28 * index, 0, 28, 28));
    return [...context.getImageData(0, 0, canvas.width, 28).data].filter((_, index) => index % 4 === 0);
}
