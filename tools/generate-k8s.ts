// `npm run generate -- FOLDER`: generates packages/k8s from the recorded facts of the built-in API (schemas.v3.json,
// definitions.v2.json and discovery.json in the folder) and from packages/k8s/descriptions. Without a folder, the facts
// are those of the present package, which is enough after a change of a description. The output depends only on these
// files. It is committed, and compared with the facts after it has been written.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readFacts } from './generate-k8s/api-facts.ts'
import { packageFacts } from './generate-k8s/package-facts.ts'
import { verify } from './generate-k8s/verify.ts'
import { writePackage } from './generate-k8s/write-package.ts'

const root = join(import.meta.dirname, '..', 'packages', 'k8s')
const folder = process.argv[2]
const facts = folder === undefined ? packageFacts() : readFacts(folder)
const files = writePackage(facts)

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
  ...Object.fromEntries(['all', 'descriptions', 'discovery', 'schemas'].map((name) => [`./${name}`, entry(name)])),
  ...Object.fromEntries([...facts.tables.keys()].map((table) => [`./${table}`, entry(`generated/${table}`)])),
}
writeFileSync(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`)

console.log(`${files.size} files; ${await verify(facts)}`)
