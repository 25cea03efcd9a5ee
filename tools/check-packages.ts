// Packs every public package as for publication, and checks with publint that consumers can import it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { runStep } from './run-step.ts'

const packages = readdirSync('packages').filter((name) => existsSync(join('packages', name, 'package.json')))
const out = mkdtempSync(join(tmpdir(), 'kubewright-pack-'))
let problems = 0
try {
  for (const name of packages) {
    const folder = join('packages', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
    if (manifest['private'] === true) continue
    const pack = await runStep({
      label: name,
      command: 'npm',
      args: ['pack', '--silent', '--pack-destination', out, `./${folder}`],
    })
    const tarball = join(out, pack.output.trim().split('\n').at(-1)!)
    if (pack.code !== 0 || !existsSync(tarball)) throw new Error(`npm pack failed for ${name}:\n${pack.output}`)
    const { messages, pkg } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer },
      strict: true,
    })
    for (const message of messages) {
      problems++
      console.error(`${folder}: ${formatMessage(message, pkg)}`)
    }
  }
} finally {
  rmSync(out, { recursive: true, force: true })
}
console.log(`${packages.length} packages packed, ${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1
