// `kubewright dev` as a black box: the output that developers of operators see.
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Requests } from '../up/requests.ts'
import { CliProcess } from './cli-process.ts'
import { OperatorProject } from './operator-project.ts'

const homes = '/apis/example.com/v1/namespaces/default/homes'
const maps = '/api/v1/namespaces/default/configmaps'

const home = (name: string, color: string): object => ({
  apiVersion: 'example.com/v1',
  kind: 'Home',
  metadata: { name },
  spec: { color },
})

async function startDev(project: OperatorProject, ...args: string[]): Promise<CliProcess> {
  return CliProcess.start(['dev', ...args], project.path)
}

function requestsTo(project: OperatorProject): Requests {
  return new Requests(join(project.path, '.kubewright/kubeconfig'))
}

describe('kubewright dev', { timeout: 120_000 }, () => {
  test('runs an operator with its kinds and webhooks, prints its activity, and stops on SIGINT', async () => {
    using project = new OperatorProject()
    await using dev = await startDev(project)
    await dev.line(/^ready https:\/\/127\.0\.0\.1:\d+ kubeconfig=.*\/\.kubewright\/kubeconfig in \d+ ms$/)
    await dev.line(new RegExp(`^Reloads when code in ${project.path} changes$`))
    await dev.line(/^ {2}export KUBECONFIG=.*\/\.kubewright\/kubeconfig$/)
    await dev.line(/^List its objects: kubectl get homes\.example\.com\. Press Ctrl-C to stop$/)
    await dev.line(/^\d\d:\d\d:\d\d homes\.example\.com {2}CRD installed$/)
    await dev.line(/ homes {2}started in \d+ ms: 1 controller \(home\), 1 webhook$/)

    using requests = requestsTo(project)
    expect((await requests.send('POST', homes, home('cosy', 'red'))).status).toBe(201)
    await dev.line(/ home\/cosy {2}Painting door="a red door"$/)
    await dev.line(/ home\/cosy {2}reconciled in (<1|\d+) ms {2}because it appeared/)

    // A change by another field manager.
    const json = { 'content-type': 'application/merge-patch+json' }
    await requests.send('PATCH', `${maps}/cosy?fieldManager=vandal`, { data: { door: 'none' } }, json)
    await dev.line(/ home\/cosy {2}reconciled in .* because ConfigMap default\/cosy changed data\.door \(by .*vandal/)

    const refused = await requests.send('POST', homes, home('barbie', 'pink'))
    expect(refused.status).toBe(422)
    expect(refused.body.message).toContain('no pink, please')
    await dev.line(/ home\/barbie {2}create by kubernetes-admin denied by webhook: .*no pink, please/)
    await requests.send('POST', homes, home('office', 'beige'))
    await dev.line(/ home\/office {2}create by kubernetes-admin got a warning from webhook: .*how daring/)

    expect(await dev.stop()).toBe(0)
  })

  test('runs the operator with the permissions of its roles, or with all permissions on request', async () => {
    using project = new OperatorProject()
    const written = 'await apply(ConfigMap('
    project.edit(
      'src/operator.ts',
      written,
      `await client.create(Secret({ metadata: { generateName: 'key-' } }))\n    ${written}`,
    )
    project.edit('src/operator.ts', '{ apply, log }', '{ apply, client, log }')
    project.edit('src/operator.ts', '{ ConfigMap }', '{ ConfigMap, Secret }')
    for (const rights of ['roles', 'all']) {
      await using dev = await startDev(project, '--rights', rights)
      await dev.line(/ homes {2}started in/)
      using requests = requestsTo(project)
      await requests.send('POST', homes, home('cosy', 'red'))
      if (rights === 'all') await dev.line(/ home\/cosy {2}reconciled in/)
      else
        await dev.line(
          /User "system:serviceaccount:homes-system:homes-controller-manager" cannot create resource "secrets"/,
        )
      expect(await dev.stop()).toBe(0)
    }
  })

  test('keeps the kubeconfig of a control plane that runs, and shares that control plane on request', async () => {
    using project = new OperatorProject()
    await using first = await startDev(project)
    const [, url = ''] = /^ready (\S+) /.exec((await first.line(/^ready /)).text) ?? []
    await first.line(/ homes {2}started in/)
    await using second = await startDev(project, '--once')
    const [, port] = /^ready https:\/\/127\.0\.0\.1:(\d+) /.exec((await second.line(/^ready /)).text) ?? []
    await second.line(new RegExp(`^ {2}export KUBECONFIG=.*/\\.kubewright/kubeconfig-${port}$`))
    await second.stop()

    using other = new OperatorProject()
    other.edit('src/home.ts', "kind: 'Home'", "kind: 'Hut'")
    other.edit('src/operator.ts', "name: 'homes'", "name: 'huts'")
    const kubeconfig = join(project.path, '.kubewright/kubeconfig')
    await using shared = await startDev(other, '--server', kubeconfig)
    expect((await shared.line(/^ready /)).text).toContain(`ready ${url} kubeconfig=${kubeconfig} in `)
    await shared.line(/ huts {2}started in/)
    using requests = requestsTo(project)
    const huts = homes.replace('homes', 'huts')
    expect((await requests.send('POST', huts, { ...home('hut', 'red'), kind: 'Hut' })).status).toBe(201)
    await shared.line(/ hut\/hut {2}reconciled in/)
    expect(await shared.stop('SIGKILL')).toBe('SIGKILL')
    expect((await requests.send('POST', homes, home('pinkish', 'pink'))).status).toBe(422)
    expect(await first.stop()).toBe(0)
  })

  test('lets a debugger attach to the operator process', async () => {
    using project = new OperatorProject()
    await using dev = await startDev(project, '--inspect=0')
    await dev.line(/^Debugger listening on ws:\/\/127\.0\.0\.1:\d+\//)
    await dev.line(/ homes {2}started in/)
    expect(dev.lines.filter((line) => line.startsWith('Debugger listening'))).toHaveLength(1)
    expect(await dev.stop()).toBe(0)
  })

  test('abandons a load when the code changes again', async () => {
    using project = new OperatorProject()
    await using dev = await startDev(project)
    const { at } = await dev.line(/ homes {2}started in/)
    project.edit('src/operator.ts', `' door'`, `' gate'`)
    const first = await dev.line(/ {2}reloading because src\/operator\.ts changed$/, at)
    project.edit('src/operator.ts', `' gate'`, `' hatch'`)
    const second = await dev.line(/ {2}reloading because src\/operator\.ts changed$/, first.at)
    await dev.line(/ homes {2}reloaded in/, second.at)
    using requests = requestsTo(project)
    await requests.send('POST', homes, home('cosy', 'red'))
    await dev.line(/Painting door="a red hatch"$/)
    expect(dev.lines.filter((line) => line.includes('reloaded in'))).toHaveLength(1)
    expect(dev.lines.filter((line) => line.includes('waiting for'))).toEqual([])
  })

  test('reloads changed code and CRDs, keeps objects, and keeps the last valid version', async () => {
    using project = new OperatorProject({ entry: 'main' })
    await using dev = await startDev(project)
    await dev.line(/ homes {2}started in/)
    using requests = requestsTo(project)
    await requests.send('POST', homes, home('cosy', 'red'))
    await dev.line(/Painting door="a red door"$/)

    project.edit('src/operator.ts', `' door'`, `' gate'`)
    let { at } = await dev.line(/ src\/main\.ts {2}reloading because src\/operator\.ts changed$/)
    await dev.line(/ homes {2}reloaded in \d+ ms/, at)
    await dev.line(/Painting door="a red gate"$/, at)

    // Code that cannot be loaded: the previous version keeps running.
    project.edit('src/operator.ts', `const homes =`, `const homes = (`)
    at = (await dev.line(/ src\/main\.ts {2}cannot be loaded$/, at)).at
    await dev.line(/src\/operator\.ts:\d+:\d+/, at)
    at = (await dev.line(/ src\/main\.ts {2}previous version keeps running; waiting for the next change$/, at)).at
    await requests.send('POST', homes, home('shed', 'blue'))
    at = (await dev.line(/Painting door="a blue gate"$/, at)).at

    // A changed CRD, with the code that uses it.
    project.edit('src/operator.ts', `const homes = (`, `const homes =`)
    project.edit('src/home.ts', `color: s.string()`, `color: s.string(), size: s.int().default(7)`)
    project.edit('src/operator.ts', `' gate'`, `' gate of ' + home.spec.size`)
    at = (await dev.line(/ homes\.example\.com {2}CRD changed$/, at)).at
    await dev.line(/Painting door="a blue gate of 7"$/, at)
    expect((await requests.send('GET', `${homes}/cosy`)).body.spec).toEqual({ color: 'red', size: 7 })

    expect(await dev.stop()).toBe(0)
    // The program continues after its run.
    await dev.line(/^the program goes on$/, at)
  })

  test('prints the place of reconcile errors in the source', async () => {
    using project = new OperatorProject()
    project.edit(
      'src/operator.ts',
      `log.info(`,
      `if (home.spec.color === 'black') throw new Error('out of paint')\n    log.info(`,
    )
    await using dev = await startDev(project)
    await dev.line(/ homes {2}started in/)
    using requests = requestsTo(project)
    await requests.send('POST', homes, home('cave', 'black'))
    const { at } = await dev.line(/ home\/cave {2}failed after (<1|\d+) ms, retry in \S+ {2}because it appeared$/)
    expect((await dev.line(/out of paint/, at)).at).toBe(at + 1)
    expect((await dev.line(/^ +at .*src\/operator\.ts:9:/, at)).at).toBe(at + 2)
  })

  test('keeps the control plane when the operator exits, and restarts it after a change', async () => {
    using project = new OperatorProject()
    project.edit('src/operator.ts', `log.info(`, `if (home.spec.color === 'void') process.exit(3)\n    log.info(`)
    await using dev = await startDev(project)
    await dev.line(/ homes {2}started in/)
    using requests = requestsTo(project)
    await requests.send('POST', homes, home('hole', 'void'))
    const { at } = await dev.line(/ homes {2}exited with 3; waiting for the next change$/)
    // Its webhooks are removed, so the API server admits the object.
    expect((await requests.send('POST', homes, home('barbie', 'pink'))).status).toBe(201)
    project.edit('src/operator.ts', `process.exit(3)`, `return {}`)
    await dev.line(/Painting door="a pink door"$/, at)
    expect(await dev.stop()).toBe(0)
  })

  test('waits for a change if the first version cannot be loaded', async () => {
    using project = new OperatorProject()
    project.edit(
      'src/operator.ts',
      `export const operator`,
      `export const other = (size: number) => size\nconst operator`,
    )
    await using dev = await startDev(project)
    await dev.line(
      / src\/operator\.ts {2}src\/operator\.ts has no operator: .*\(it exports other, which needs arguments\)$/,
    )
    await dev.line(/ src\/operator\.ts {2}waiting for the next change$/)
    project.edit('src/operator.ts', `\nconst operator`, `\nexport const operator`)
    await dev.line(/ homes {2}started in/)
    expect(await dev.stop('SIGTERM')).toBe(0)
  })

  test('keeps objects in a folder, exits with --once, and forwards flags', async () => {
    using project = new OperatorProject()
    await using first = await startDev(project, '--data', 'objects', '--once')
    expect(await first.exited).toBe(0)
    await using second = await startDev(project, '--data', 'objects', '--', '--log-level=debug')
    await second.line(/ homes {2}started in/)
    expect(second.lines.filter((line) => line.includes('CRD installed'))).toEqual([])
    expect(await second.stop()).toBe(0)
  })

  test('leaves no processes and no webhooks behind when it is killed', async () => {
    using project = new OperatorProject()
    await using killed = await startDev(project, '--data', 'objects')
    await killed.line(/ homes {2}started in/)
    // The output is closed only after the operator process has exited too.
    const closed = once(killed.child, 'close')
    await killed.stop('SIGKILL')
    await closed
    project.write('src/operator.ts', `throw new Error('not today')\n`)
    await using again = await startDev(project, '--data', 'objects')
    await again.line(/waiting for the next change$/)
    using requests = requestsTo(project)
    expect((await requests.send('POST', homes, home('barbie', 'pink'))).status).toBe(201)
  })

  test('exits with 1 for --once if the operator cannot be loaded', async () => {
    using project = new OperatorProject()
    project.write('src/operator.ts', `throw new Error('not today')\n`)
    await using dev = await startDev(project, '--once')
    expect(await dev.exited).toBe(1)
    await dev.line(/not today/)
    expect(dev.lines.filter((line) => line.includes('waiting'))).toEqual([])
  })

  test('exits with 2 for a missing module', async () => {
    using project = new OperatorProject()
    await using dev = await startDev(project, 'src/nothing.ts')
    expect(await dev.exited).toBe(2)
    await dev.line(/^kubewright dev: src\/nothing\.ts does not exist: name the module of the operator$/)
  })
})
