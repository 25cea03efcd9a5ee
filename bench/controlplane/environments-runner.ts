// Starts test environments with the operator of examples/home, one after the other or many at once, and prints the
// figures.
import { isTrue, startTestEnv } from 'kubewright/testing'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { Home } from '../../examples/home/src/home.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { report, type Taken, taken } from './process-figures.ts'

const count = Number(process.argv[2])
const starts = 10
const home = () => Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx:1.27', replicas: 2 } })

/** The first start of a process includes compiling code. The later ones show the cost per test of a suite. */
async function oneByOne(): Promise<void> {
  const all = []
  for (let i = 0; i < starts; i++) {
    let env: AsyncDisposable | undefined
    all.push(await taken(async () => (env = await startTestEnv(homeOperator(fakeDns())))))
    await env?.[Symbol.asyncDispose]()
  }
  const [first, ...others] = all
  report({ first, later: others.sort((a, b) => a.wallMillis - b.wallMillis)[0], idle: await idle() })
}

/** Two virtual hours of an environment in which nothing happens: its controllers should not run. */
async function idle(): Promise<Taken> {
  await using env = await startTestEnv(undefined, { time: 'virtual' })
  await env.settled()
  return taken(() => env.advance('2h'))
}

/** Uses all environments while all of them are running. */
async function atOnce(): Promise<void> {
  const all = await taken(async () => {
    const environments = await Promise.all(
      Array.from({ length: count }, () => startTestEnv(homeOperator(fakeDns()), { timeout: '2m' })),
    )
    await Promise.all(environments.map(({ client }) => client.create(home())))
    await Promise.all(environments.map((env) => env.until(Home, 'cosy', isTrue('Ready'))))
  })
  report({ all })
}

await (count === 1 ? oneByOne() : atOnce())
process.exit(0)
