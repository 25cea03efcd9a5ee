import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { standardExtensions } from '../../standard-extensions.ts'
import { PlainServer } from '../../testdata/plain-server.ts'

test('ServerMetrics counts requests by verb, resource and code, open streams and stored objects', async () => {
  await using server = await PlainServer.start({}, standardExtensions)
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
  watch.stop()
  await watch.done
  const after = (await server.send('GET /metrics')).text
  expect(after).toContain(`\napiserver_longrunning_requests{verb="WATCH",${labels},scope="namespace"} 0\n`)
})

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

test.skipIf(!hasPromtool)(
  `promtool accepts /metrics${hasPromtool ? '' : ' (not on the PATH: install the package prometheus)'}`,
  async () => {
    await using server = await PlainServer.start({}, standardExtensions)
    await server.send('GET /api/v1/namespaces/default')
    const { text } = await server.send('GET /metrics')
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)
