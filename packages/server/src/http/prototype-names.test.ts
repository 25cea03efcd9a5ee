import { expect, test } from 'vitest'
import { standardExtensions } from '../standard-extensions.ts'
import { PlainServer } from '../testdata/plain-server.ts'

test.each([
  ['constructor /api/v1/namespaces', 405],
  ['constructor /healthz', 200],
  ['toString /api/v1/namespaces/default/pods/x', 405],
  ['__proto__ /apis/apps/v1/deployments', 405],
  ['GET /api/v1/namespaces/default/pods/x/constructor', 404],
  ['PUT /api/v1/namespaces/default/pods/x/constructor', 404],
  ['GET /api/v1/namespaces/default/pods/x/__proto__', 404],
  ['GET /api/v1/namespaces/default/constructor', 404],
  ['GET /apis/constructor/v1/pods', 404],
  ['GET /apis/constructor', 404],
  ['GET /openapi/v3/constructor', 404],
  ['GET /openapi/v3/apis/constructor/v1', 404],
  ['GET /healthz/constructor', 404],
])('%s names a property of Object.prototype and gets %i', async (line, status) => {
  await using server = await PlainServer.start([], standardExtensions)
  expect((await server.send(line, { body: {} })).status).toBe(status)
})
