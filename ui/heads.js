// Of a model file only its head is sent: it holds the layout and the sizes, the rest are gigabytes of weights.
(() => {
  const HEAD_BYTES = 15 * 2 ** 20;
  const NAMES = /\.(gguf|safetensors)$/i;
  document.addEventListener('change', (event) => {
    const input = event.target;
    if (!(input instanceof HTMLInputElement) || input.type !== 'file' || !input.files) return;
    const files = [...input.files];
    if (!files.some((file) => NAMES.test(file.name) && file.size > HEAD_BYTES)) return;
    const heads = new DataTransfer();
    for (const file of files) {
      const long = NAMES.test(file.name) && file.size > HEAD_BYTES;
      heads.items.add(long ? new File([file.slice(0, HEAD_BYTES)], file.name, { type: file.type }) : file);
    }
    input.files = heads.files;
  }, true);
})();
