// `npm run generate -- <folder>`: generates packages/k8s from the recorded facts of the built-in API (schemas.v3.json,
// definitions.v2.json and discovery.json in the folder). The output depends only on the facts. It is committed, and
// compared with the facts after it has been written.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFacts } from './generate-k8s/api-facts.ts'
import { verify } from './generate-k8s/verify.ts'
import { writeDiscovery } from './generate-k8s/write-discovery.ts'
import { writeModules } from './generate-k8s/write-modules.ts'

const folder = process.argv[2]
if (folder === undefined) {
  console.error('Usage: npm run generate -- <folder with schemas.v3.json, definitions.v2.json and discovery.json>')
  process.exit(2)
}
const root = join(import.meta.dirname, '..', 'packages', 'k8s')
const facts = readFacts(folder)
const files = writeModules(facts)
files.set('generated/discovery.ts', writeDiscovery(facts))

rmSync(join(root, 'src', 'generated'), { recursive: true, force: true })
for (const [path, text] of files) {
  const file = join(root, 'src', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

// The subpaths follow from the tables, so the manifest is updated here.
const manifestFile = join(root, 'package.json')
const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Record<string, unknown>
const entry = (path: string): object => ({
  'kubewright-source': `./src/${path}.ts`,
  types: `./dist/${path}.d.ts`,
  default: `./dist/${path}.js`,
})
manifest['exports'] = {
  '.': entry('index'),
  ...Object.fromEntries(['all', 'discovery', 'schemas'].map((name) => [`./${name}`, entry(name)])),
  ...Object.fromEntries([...facts.tables.keys()].map((table) => [`./${table}`, entry(`generated/${table}`)])),
}
writeFileSync(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`)

console.log(`${files.size} files; ${await verify(facts)}`)
