import { systemClock as clock, createEventRecorder, createLogger, createLogSink } from 'kubewright/runtime'
import { openCluster, runUntilStopped } from '../../open-cluster.ts'
import { Foo, installFoo } from './foo.ts'
import { FooController } from './foo-controller.ts'

await runUntilStopped(async (signal) => {
  const log = createLogger(createLogSink({ clock, write: (line) => console.log(line), format: 'pretty' }))
  await using cluster = await openCluster()
  const { client } = cluster
  await installFoo(client, signal)
  // An embedded cluster starts without Foos.
  if (cluster.isEmbedded) {
    await client.create(
      Foo({ metadata: { name: 'example-foo' }, spec: { deploymentName: 'example-foo', replicas: 1 } }),
    )
  }
  const component = 'sample-controller'
  await using events = createEventRecorder({ client, clock, log, component, instance: component })
  await new FooController({ client, source: client, events, log, clock }).run(2, signal)
})
