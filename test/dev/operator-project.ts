import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packedModules } from '../scaffold/packed-modules.ts'
import { TemporaryFolder } from '../up/up-process.ts'

const modules = await packedModules()

/** The project of an operator for Homes. The controller writes a ConfigMap for each Home, which describes its door. */
export class OperatorProject extends TemporaryFolder {
  constructor({ entry = 'operator' as 'operator' | 'main' } = {}) {
    super()
    mkdirSync(join(this.path, 'src'))
    symlinkSync(modules, join(this.path, 'node_modules'))
    this.write('package.json', JSON.stringify({ name: 'homes', type: 'module', private: true }))
    this.write('src/home.ts', home)
    this.write('src/operator.ts', operator)
    if (entry === 'main') this.write('src/main.ts', main)
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text)
  }

  /** Saves a file with a part of it replaced. */
  edit(name: string, from: string, to: string): void {
    const text = readFileSync(join(this.path, name), 'utf8')
    if (!text.includes(from)) throw new Error(`${name} has no ${from}`)
    this.write(name, text.replace(from, to))
  }
}

const home = `import { defineResource, type Infer, s } from 'kubewright'

export const Home = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ color: s.string() }),
  status: s.object({ door: s.string() }),
})
export type Home = Infer<typeof Home>
`

const operator = `import { defineController, defineOperator, defineWebhook, forbidden, warning } from 'kubewright'
import { ConfigMap } from 'kubewright/k8s'
import { Home } from './home.ts'

const homes = defineController(Home, {
  owns: [ConfigMap],
  async reconcile(home, { apply, log }) {
    const door: string = 'a ' + home.spec.color + ' door'
    log.info('Painting', { door })
    await apply(ConfigMap({ metadata: { name: home.metadata.name }, data: { door } }))
    return { status: { door } }
  },
})

const tasteful = defineWebhook(Home, {
  validate: ({ spec }) => [
    spec.color === 'pink' && forbidden('spec.color', 'no pink, please'),
    spec.color === 'beige' && warning('spec.color', 'how daring'),
  ],
})

export const operator = defineOperator({
  name: 'homes',
  controllers: [homes],
  webhooks: [tasteful],
  leaderElection: true,
})
`

const main = `import { run } from 'kubewright'
import { operator } from './operator.ts'

await run(operator)
console.log('the program goes on')
`
