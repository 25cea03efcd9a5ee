// `kubewright run` as a black box.
import { crdOf, defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Requests } from '../up/requests.ts'
import { UpProcess } from '../up/up-process.ts'
import { CliProcess } from './cli-process.ts'
import { OperatorProject } from './operator-project.ts'

const homes = '/apis/example.com/v1/namespaces/default/homes'

describe('kubewright run', { timeout: 120_000 }, () => {
  let project: OperatorProject
  let up: UpProcess
  let requests: Requests

  beforeAll(async () => {
    project = new OperatorProject({ entry: 'main' })
    up = await UpProcess.start(['--memory', '--controllers', 'none'], project.path)
    requests = new Requests(up.kubeconfig)
    const Home = defineResource({
      group: 'example.com',
      version: 'v1',
      kind: 'Home',
      spec: s.object({ color: s.string() }),
      status: s.object({ door: s.string() }),
    })
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    expect((await requests.send('POST', definitions, crdOf(Home))).status).toBe(201)
    await requests.until(`${definitions}?watch=1&timeoutSeconds=30`, ({ status }) =>
      status?.conditions?.some(
        ({ type, status }: Record<string, string>) => type === 'Established' && status === 'True',
      ),
    )
  })
  afterAll(async () => {
    requests?.[Symbol.dispose]()
    await up?.[Symbol.asyncDispose]()
    project?.[Symbol.dispose]()
  })

  test('runs an operator with forwarded flags until SIGINT', async () => {
    const env = { KUBECONFIG: up.kubeconfig, ENABLE_WEBHOOKS: 'false' }
    const flags = ['--leader-elect=false', '--health-probe-bind-address=0', '--log-format=json']
    await using run = await CliProcess.start(['run', ...flags], project.path, env)
    const cosy = { apiVersion: 'example.com/v1', kind: 'Home', metadata: { name: 'cosy' }, spec: { color: 'red' } }
    const sent = await requests.send('POST', homes, cosy)
    expect(sent.status).toBe(201)
    await run.line(/^\{"level":"info",.*"msg":"Painting",.*"door":"a red door"/)
    await requests.until(
      '/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=30',
      ({ data }) => data?.door === 'a red door',
    )
    expect(await run.stop()).toBe(0)
    await run.line(/^the program goes on$/)
  })

  test('prints the help of the operator, and reports its unknown flags', async () => {
    await using help = await CliProcess.start(['run', 'src/operator.ts', '--', '--help'], project.path)
    expect(await help.exited).toBe(0)
    expect(help.lines).toContain('Usage: homes [FLAGS]')
    await using wrong = await CliProcess.start(['run', '--leader-elekt'], project.path)
    expect(await wrong.exited).toBe(2)
    expect(wrong.lines).toEqual([
      'homes: unknown flag --leader-elekt: did you mean --leader-elect?',
      'See kubewright run -- --help',
    ])
  })

  test('exits on a signal while code is loaded', async () => {
    const late = `
const alive = setInterval(() => undefined, 60_000)
await new Promise<void>((done) => {
  process.once('SIGTERM', () => done())
  process.kill(process.pid, 'SIGTERM')
})
clearInterval(alive)
export * from './operator.ts'
`
    project.write('src/late.ts', late)
    await using run = await CliProcess.start(['run', 'src/late.ts'], project.path, { KUBECONFIG: up.kubeconfig })
    expect(await run.exited).toBe(143)
  })

  test('prints the place of an error while code is loaded', async () => {
    project.write('src/broken.ts', `const size: number = 3\nthrow new Error('at ' + size)\n`)
    await using run = await CliProcess.start(['run', 'src/broken.ts'], project.path)
    expect(await run.exited).toBe(1)
    expect(run.lines).toEqual([
      'kubewright run: src/broken.ts cannot be loaded',
      '  at 3',
      expect.stringMatching(/^ {4}at .*src\/broken\.ts:2:7\)?$/),
    ])
  })
})
