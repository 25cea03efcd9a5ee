// `npm run pictures`: records the terminals of the documentation again; with names, only those. Needs kubectl.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { RecordingTerminal, scenes } from './recordings.ts'
import { terminalSvg } from './terminal-svg.ts'

const pictures = join(import.meta.dirname, '..', '..', 'docs', 'pictures')
const wanted = process.argv.slice(2)
for (const name of wanted) {
  if (!scenes.some((scene) => scene.name === name))
    throw new Error(`There is no picture ${name}: choose from ${scenes.map((scene) => scene.name).join(', ')}`)
}
for (const scene of scenes) {
  if (wanted.length > 0 && !wanted.includes(scene.name)) continue
  const terminal = new RecordingTerminal()
  try {
    await scene.record(terminal)
    writeFileSync(join(pictures, `${scene.name}.svg`), terminalSvg({ ...scene, lines: terminal.lines }))
    console.log(`docs/pictures/${scene.name}.svg: ${terminal.lines.length} lines`)
  } finally {
    await terminal.close()
  }
}
