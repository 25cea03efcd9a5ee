// What people bring along: kubebuilder's flags, their own way to format, line ends of Windows, npm projects that are there already.
import { describe, expect, test } from 'vitest'
import { type TemporaryProject, temporaryProject } from './temporary-project.ts'

const home = ['create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home']
const webhooks = ['create', 'webhook', '--kind', 'Home', '--defaulting', '--programmatic-validation']

async function did(project: TemporaryProject, ...args: string[]): Promise<string> {
  const { code, out, notes } = await project.kubewright(...args)
  if (code !== 0) throw new Error(`kubewright ${args.join(' ')}: ${notes}`)
  return out
}

describe('flags of kubebuilder', () => {
  test('--repo is remembered, and is the repository of the package where it can be one', async () => {
    for (const [repo, repository] of [
      ['myk8soperator', undefined],
      ['example.com/api', 'https://example.com/api'],
      ['git@example.com:jane/homes.git', 'git@example.com:jane/homes.git'],
    ] as const) {
      using project = temporaryProject()
      await did(project, 'init', '--yes', '--repo', repo)
      expect(project.read('PROJECT')).toContain(`repo: ${repo}\n`)
      expect(JSON.parse(project.read('package.json')).repository).toBe(repository)
    }
    using project = temporaryProject()
    const { code, notes } = await project.kubewright('init', '--yes', '--repo', 'two words')
    expect([code, notes]).toEqual([
      2,
      '--repo must be where the sources are, such as github.com/jane/homes, not "two words"',
    ])
  })

  test('without a meaning here are passed over', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes', '--skip-go-version-check', '--project-version', '3', '--project-version=3')
    await did(project, ...home, '--make=false', '--manifests=false', '--ssa', '--plugins=go/v4,kustomize/v2')
    const image = ['--image=nginx:1', '--plugins', 'deploy-image/v1-alpha', '--force']
    await did(project, ...home, ...image, '--plugins', 'base.go.kubebuilder.io/v4')
    await did(project, ...webhooks, '--make')
    expect(Object.keys(project.files())).toContain('src/home.webhook.ts')
  })

  test.each([
    [['--plugins', 'deploy-image/v1-alpha'], '--plugins is not needed: create api --image makes such an operator'],
    [['--plugins=helm/v2-alpha'], '--plugins is not needed: kubewright generate --helm writes the chart'],
    [['--plugins=grafana/v1-alpha'], '--plugins is not needed: kubewright generate writes grafana/'],
    [['--plugins', 'go/v4,my/v1'], '--plugins is not needed: what plugins of kubebuilder make is part of the commands'],
    [['--project-version', '2'], '--project-version must be 3, not "2"'],
  ])('for what is done in another way say how: %j', async (flags, notes) => {
    using project = temporaryProject()
    expect(await project.kubewright('init', '--yes', ...flags)).toMatchObject({ code: 2, notes })
  })
})

test.each(['api', 'webhook'])(
  'create %s takes for a kind of others no module of Go and no file that is missing, and says what it needs',
  async (what) => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    const kind = [
      '--group',
      'cert-manager',
      '--version',
      'v1',
      '--kind',
      'CertificateRequest',
      '--external-api-domain',
      'io',
    ]
    const go = 'github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1'
    const notes =
      '--external-api-path must be a module of TypeScript, not of Go: kubewright import makes src/imported/cert-manager.io/certificate-request.ts of the CRD'
    const flags = what === 'api' ? ['--resource=false'] : ['--defaulting']
    const create = (path: string) => project.kubewright('create', what, ...kind, ...flags, '--external-api-path', path)
    expect(await create(go)).toMatchObject({ code: 2, notes })
    const file = 'src/imported/request.ts'
    const missing = `--external-api-path names ${file}, which does not exist: kubewright import writes such files`
    expect(await create(file)).toMatchObject({ code: 2, notes: missing })
    project.write(file, '')
    expect(await create(file)).toMatchObject({ code: 0 })
  },
)

describe('kinds whose names the files need for something else', () => {
  test.each([
    [['--kind', 'Draft'], '--kind cannot be Draft, which the files of kinds import: choose another name'],
    [['--kind', 'Infer'], '--kind cannot be Infer, which the files of kinds import: choose another name'],
    [['--kind', 'Pod', '--image', 'nginx:1'], '--kind cannot be Pod with --image, which makes Pods'],
    [
      ['--kind', 'Deployment', '--image', 'nginx:1'],
      '--kind cannot be Deployment with --image, which makes Deployments',
    ],
  ])('are refused: %j', async (flags, notes) => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    expect(await project.kubewright('create', 'api', '--group', 'x', '--version', 'v1', ...flags)).toMatchObject({
      code: 2,
      notes,
    })
  })
})

describe('the way in which people write', () => {
  test('line ends of Windows are no changes, and stay', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    await did(project, ...home)
    for (const [path, text] of Object.entries(project.files())) project.write(path, text.replaceAll('\n', '\r\n'))
    const out = await did(project, ...webhooks)
    // Replaced as if it were untouched, not merged.
    expect(out).toContain('updated   src/operator.ts')
    await did(project, 'create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    for (const path of ['PROJECT', 'src/operator.ts', 'src/home.ts']) {
      expect(project.read(path).replaceAll('\r\n', ''), path).not.toContain('\n')
    }
    expect(await project.kubewright('init', '--replay')).toMatchObject({ code: 0, out: '' })
  })

  test('tabs and double quotes stay what they are', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    await did(project, ...home)
    for (const path of ['src/operator.ts', 'src/home.ts']) {
      const tabs = (spaces: string): string => '\t'.repeat(spaces.length / 2)
      project.write(
        path,
        project
          .read(path)
          .replaceAll(/^(?: {2})+/gm, tabs)
          .replaceAll("'", '"'),
      )
    }
    await did(project, ...webhooks)
    await did(project, 'create', 'api', '--group', 'ajd', '--version', 'v2', '--kind', 'Home')
    await did(project, 'create', 'webhook', '--kind', 'Home', '--version', 'v2', '--conversion')
    const operator = project.read('src/operator.ts')
    expect(operator).toContain('import { homeWebhook } from "./home.webhook.ts"\n')
    expect(operator).toContain('\n\twebhooks: [homeWebhook],\n')
    const kind = project.read('src/home.ts')
    expect(kind).toContain('\n\t\tv2: {\n\t\t\tstorage: true,\n\t\t\tspec: s.object({\n')
    expect(`${operator}${kind}`).not.toMatch(/^\t* {2}/m)
  })

  test('an operator with another name gets parts registered, and the user is told where it is imported', async () => {
    using project = temporaryProject()
    await did(project, 'init', '--yes')
    project.change(
      'src/operator.ts',
      'export const operator = defineOperator',
      'export const homes = (dns: string) => defineOperator',
    )
    const { notes, code } = await project.kubewright(...home)
    expect(code).toBe(0)
    expect(notes).toContain('src/operator.ts exports no operator: import in src/home.test.ts what it is called there\n')
    expect(project.read('src/operator.ts')).toContain('controllers: [homeController]')
    project.change('src/operator.ts', 'export const homes', 'const homes')
    project.write('src/operator.ts', `${project.read('src/operator.ts')}export { homes as operator }\n`)
    expect((await project.kubewright(...webhooks)).notes).not.toContain('exports no operator')
  })

  test('an npm package stays as public, and as licensed, as it was', async () => {
    using project = temporaryProject()
    const before = { name: '@jane/homes', dependencies: { left: '1.0.0' } }
    project.write('package.json', JSON.stringify(before))
    await did(project, 'init', '--yes', '--repo', 'example.com/jane/homes')
    const {
      private: isPrivate,
      license,
      repository,
      version,
      dependencies,
      type,
    } = JSON.parse(project.read('package.json'))
    expect([isPrivate, license, repository, version]).toEqual([undefined, undefined, undefined, undefined])
    expect([Object.keys(dependencies), type]).toEqual([['left', 'kubewright'], 'module'])
  })
})

test.each([
  ['AppService', 'an AppService'],
  ['Home', 'a Home'],
  ['HTTPRoute', 'an HTTPRoute'],
  ['SecSynch', 'a SecSynch'],
  ['User', 'a User'],
  ['Update', 'an Update'],
  ['Unit', 'a Unit'],
  ['DNSRecord', 'a DNSRecord'],
])('%s is called %s', async (kind, called) => {
  using project = temporaryProject()
  await did(project, 'init', '--yes')
  const { notes } = await project.kubewright('create', 'api', '--group', 'x', '--version', 'v1', '--kind', kind)
  expect(notes).toContain(`what ${called} is`)
  expect(Object.entries(project.files()).find(([path]) => path.endsWith('.test.ts'))?.[1]).toContain(
    `'${called} becomes`,
  )
})
