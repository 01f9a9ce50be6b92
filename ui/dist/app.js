// A placeholder: reads the stream and counts frames by kind.
const query = location.search
const counts = {}
async function read() {
  const reader = (await fetch('/stream' + query)).body.getReader()
  let rest = new Uint8Array(0)
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const all = new Uint8Array(rest.length + value.length)
    all.set(rest)
    all.set(value, rest.length)
    let at = 0
    const view = new DataView(all.buffer)
    while (all.length - at >= 8 && all.length - at >= view.getUint32(at, true)) {
      counts[all[at + 4]] = (counts[all[at + 4]] || 0) + 1
      at += view.getUint32(at, true)
    }
    rest = all.slice(at)
    document.getElementById('frames').textContent = JSON.stringify(counts, null, 1)
    document.body.dataset.ready = 'true'
  }
}
read()
