import { Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

test('startControlPlane() answers logs and exec of simulated containers with what they are', async () => {
  await using plane = await startControlPlane({ nodes: 1 })
  const client = plane.client()
  const spec = { containers: [{ name: 'web', image: 'nginx:1.27' }], serviceAccountName: 'default' }
  await client.create(Pod({ metadata: { name: 'a', namespace: 'default' }, spec }))
  for await (const event of await client.watch(Pod, {
    sendInitialEvents: true,
    resourceVersionMatch: 'NotOlderThan',
  })) {
    if ('object' in event && (event.object as Pod).status?.phase === 'Running') break
  }
  const lines: string[] = []
  for await (const line of client.logs('default/a')) lines.push(line)
  expect(lines.join('')).toContain('Simulated container "web" (nginx:1.27) started. It runs no program')
  const path = '/api/v1/namespaces/default/pods/a/exec'
  const query = new URLSearchParams({ command: 'sh', stdout: 'true' })
  await expect(client.rest.json({ method: 'POST', path, query })).rejects.toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('is simulated and its containers run no program: exec, attach and port-forward'),
  })
})
