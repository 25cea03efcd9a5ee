import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { standardExtensions } from '../../standard-extensions.ts'
import { PlainServer } from '../../testdata/plain-server.ts'

test('ServerMetrics counts requests by verb, resource and code, open streams and stored objects', async () => {
  await using server = await PlainServer.start([], standardExtensions)
  const maps = '/api/v1/namespaces/default/configmaps'
  await server.send(`POST ${maps}`, { body: { metadata: { name: 'a' } } })
  await server.send(`GET ${maps}/nosuch`)
  const watch = await server.watch(`${maps}?watch=1`)
  const labels = 'group="",version="v1",resource="configmaps",subresource=""'
  const during = (await server.send('GET /metrics')).text
  expect(during).toContain(
    `\napiserver_request_total{code="201",component="apiserver",verb="POST",${labels},scope="namespace"} 1\n`,
  )
  expect(during).toContain(
    `\napiserver_request_total{code="404",component="apiserver",verb="GET",${labels},scope="resource"} 1\n`,
  )
  expect(during).toContain(`\napiserver_longrunning_requests{verb="WATCH",${labels},scope="namespace"} 1\n`)
  expect(during).toContain('\napiserver_storage_objects{resource="namespaces"} 4\n')
  const events = '\napiserver_watch_events_total{group="",version="v1",resource="configmaps"}'
  expect(during).toContain(`${events} 1\n`)
  expect((await server.send('GET /metrics')).text).toContain(`${events} 1\n`)
  watch.stop()
  await watch.done
  const after = (await server.send('GET /metrics')).text
  expect(after).toContain(`\napiserver_longrunning_requests{verb="WATCH",${labels},scope="namespace"} 0\n`)
})

test('ServerMetrics folds methods, resources and subresources that are not served into one label', async () => {
  await using server = await PlainServer.start([], standardExtensions)
  const series = async (): Promise<string[]> => {
    const lines = (await server.send('GET /metrics')).text.split('\n')
    return lines.filter(
      (line) => line.startsWith('apiserver_request_total{') || line.startsWith('apiserver_watch_events'),
    )
  }
  await series()
  const before = await series()
  for (let i = 0; i < 300; i++) {
    await server.send(`M${i} /healthz`)
    await server.send(`M${i} /api/v1/namespaces/default/configmaps/a`)
    await server.send(`GET /apis/g${i}/v${i}/r${i}/name/sub`)
    await server.send(`GET /api/v1/namespaces/default/pods/a/sub${i}`)
    await server.send(`GET /api/v1/r${i}?watch=1`)
  }
  const added = (await series()).filter((line) => !before.some((old) => old.split('}')[0] === line.split('}')[0]))
  const labels = (text: string): string => `apiserver_request_total{code=${text}} 300`
  expect(added.sort()).toEqual([
    labels('"200",component="apiserver",verb="other",group="",version="",resource="",subresource="",scope=""'),
    labels(
      '"404",component="apiserver",verb="GET",group="",version="",resource="other",subresource="",scope="resource"',
    ),
    labels(
      '"404",component="apiserver",verb="GET",group="",version="v1",resource="pods",subresource="other",scope="resource"',
    ),
    labels(
      '"404",component="apiserver",verb="WATCH",group="",version="",resource="other",subresource="",scope="cluster"',
    ),
    labels(
      '"405",component="apiserver",verb="other",group="",version="v1",resource="configmaps",subresource="",scope="resource"',
    ),
  ])
})

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

test.skipIf(!hasPromtool)(
  `promtool accepts /metrics${hasPromtool ? '' : ' (not on the PATH: install the package prometheus)'}`,
  async () => {
    await using server = await PlainServer.start([], standardExtensions)
    await server.send('GET /api/v1/namespaces/default')
    const { text } = await server.send('GET /metrics')
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)
