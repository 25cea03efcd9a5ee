import { spawnSync } from 'node:child_process'
import { parseYaml } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { bundleFiles, objectsOutsideBundle } from '../../packages/cli/src/manifests/bundle-files.ts'
import { channelsOf, examplesOf } from '../../packages/cli/src/manifests/bundle-inputs.ts'
import { chartFiles } from '../../packages/cli/src/manifests/helm-chart.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'
import { validateBundle } from '../../packages/cli/src/manifests/validate-bundle.ts'
import { TemporaryFolder } from './temporary-folder.ts'

interface Facts {
  readonly version: string
  readonly description: string
  readonly author: { readonly name: string; readonly email: string }
  readonly homepage: string
  readonly image: string
  readonly icon: { readonly mediatype: string; readonly base64data: string } | undefined
}
const facts: Facts = {
  version: '1.2.3',
  description: 'Homes for everybody.',
  author: { name: 'Somebody', email: 'somebody@example.com' },
  homepage: 'https://example.com',
  image: 'example.com/home:1.2.3',
  icon: { mediatype: 'image/svg+xml', base64data: 'PHN2Zy8+' },
}
const csvPath = 'bundle/manifests/home-operator.clusterserviceversion.yaml'

function bundle(operator = home, change: Partial<Facts> = {}, channels?: readonly string[]): Map<string, string> {
  const described = describeOperator(operator)
  const { image, ...rest } = { ...facts, ...change }
  const config = manifestsOf(operator, { image })
  const options = { ...rest, channels, config, samples: examplesOf(described, new Map()) }
  return new Map([...bundleFiles(described, options)].map(([path, { text }]) => [path, text]))
}

interface Csv {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> }
  readonly spec: {
    readonly install: {
      readonly spec: { readonly clusterPermissions: readonly { readonly rules: readonly object[] }[] }
    }
    readonly installModes: readonly { readonly type: string; readonly supported: boolean }[]
    readonly webhookdefinitions?: readonly { readonly type: string; readonly deploymentName: string }[]
    readonly customresourcedefinitions: {
      readonly owned: readonly {
        readonly name: string
        readonly version: string
        readonly specDescriptors: readonly object[]
      }[]
    }
  }
}
const csvOf = (files: Map<string, string>, path = csvPath): Csv => parseYaml(files.get(path)!) as Csv

describe('bundleFiles()', () => {
  test('has all fields that catalogs require, and warns about missing ones with their source', () => {
    expect(validateBundle(bundle())).toEqual([])
    expect(csvOf(bundle()).spec).toMatchObject({ icon: [facts.icon] })
    const problems = validateBundle(bundle(home, { icon: undefined }))
    expect(problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: spec.icon is missing: it comes from "kubewright": { "icon": FILE } in package.json',
    ])
  })

  test('lists webhooks and conversions of the Deployment', () => {
    const { webhookdefinitions = [] } = csvOf(bundle()).spec
    expect(webhookdefinitions.map(({ type }) => type)).toEqual([
      'MutatingAdmissionWebhook',
      'ValidatingAdmissionWebhook',
      'ConversionWebhook',
    ])
    expect(new Set(webhookdefinitions.map(({ deploymentName }) => deploymentName))).toEqual(
      new Set(['home-operator-controller-manager']),
    )
  })

  test('requests no permissions for certificates, which OLM issues', () => {
    const { rules } = csvOf(bundle()).spec.install.spec.clusterPermissions[0]!
    expect(JSON.stringify(rules)).toContain('homes/status')
    expect(JSON.stringify(rules)).not.toMatch(/webhookconfigurations|customresourcedefinitions|secrets/)
  })

  test('derives descriptors from the schema', () => {
    const [owned] = csvOf(bundle()).spec.customresourcedefinitions.owned
    expect(owned?.specDescriptors).toContainEqual({
      description: 'Container image to serve.',
      displayName: 'Image',
      path: 'image',
      'x-descriptors': ['urn:alm:descriptor:com.tectonic.ui:text'],
    })
  })

  test('has the version, the image and the lowest version of Kubernetes of the other artifacts', () => {
    const image = `example.com/home@sha256:${'a'.repeat(64)}`
    const csv = csvOf(bundle(home, { image }))
    expect(csv).toMatchObject({
      metadata: { name: 'home-operator.v1.2.3', annotations: { containerImage: image } },
      spec: { version: '1.2.3', minKubeVersion: '1.25.0', relatedImages: [{ name: 'manager', image }] },
    })
    const chart = chartFiles({ name: home.name, config: manifestsOf(home), version: facts.version })
    expect(parseYaml(chart.get('dist/chart/Chart.yaml')!.text)).toMatchObject({
      version: '1.2.3',
      appVersion: '1.2.3',
      kubeVersion: '>=1.25.0-0',
    })
  })

  test('adds the facts of a base in config/manifests, as operator-sdk does', () => {
    const config = manifestsOf(home)
    const base = {
      metadata: { annotations: { categories: 'Database' } },
      spec: { maturity: 'stable', version: '9.9.9' },
    }
    config.set('config/manifests/bases/home-operator.clusterserviceversion.yaml', JSON.stringify(base))
    const files = bundleFiles(describeOperator(home), { config, version: '1.0.0', samples: [] })
    const csv = parseYaml(files.get(csvPath)!.text)
    expect(csv).toMatchObject({
      metadata: { annotations: { categories: 'Database', capabilities: 'Basic Install' } },
      spec: { maturity: 'stable', version: '1.0.0' },
    })
  })

  test('contains neither accounts nor services that OLM creates, and names objects that OLM does not install', () => {
    const names = [...bundle().keys()].map((path) => path.replace(/^bundle\/manifests\//, ''))
    expect(names.filter((name) => /serviceaccount|webhook-service|namespace/.test(name))).toEqual([])
    const config = manifestsOf(home)
    const path = 'config/manager/manager.yaml'
    config.set(path, `${config.get(path)}---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: job}\n`)
    expect(objectsOutsideBundle(describeOperator(home), config)).toMatchObject([{ kind: 'CronJob' }])
  })

  test('passes the validator of operator-framework', ({ skip }) => {
    const program = process.env['KUBEWRIGHT_OPERATOR_VERIFY']
    if (program === undefined) return skip('KUBEWRIGHT_OPERATOR_VERIFY does not name the program operator-verify')
    for (const operator of [home, appService]) {
      using folder = new TemporaryFolder()
      folder.write(bundle(operator))
      const found = spawnSync(program, ['manifests', `${folder.path}/bundle`], { encoding: 'utf8' })
      expect(`${found.status} ${found.stdout}${found.stderr}`).toBe('0 ')
    }
  })

  test('owns every served version', () => {
    const owned = csvOf(bundle()).spec.customresourcedefinitions.owned.map(({ name, version }) => `${name} ${version}`)
    const served = describeOperator(home).resources.flatMap(({ crd }) =>
      crd.spec.versions.flatMap(({ name, served }) => (served ? `${crd.metadata.name} ${name}` : [])),
    )
    expect(served.length).toBeGreaterThan(1)
    expect(owned).toEqual(served)
  })

  test('has no webhook definitions for an operator without webhooks', () => {
    const files = bundle(appService)
    const csv = csvOf(files, 'bundle/manifests/app-service-operator.clusterserviceversion.yaml')
    expect(csv.spec.webhookdefinitions).toBeUndefined()
    expect(validateBundle(files).filter(({ severity }) => severity === 'error')).toEqual([])
  })
})

describe('validateBundle()', () => {
  const broken = (path: string, from: string | RegExp, to: string): string[] => {
    const files = bundle()
    const before = files.get(path)!
    const after = before.replace(from, to)
    expect(after).not.toBe(before)
    files.set(path, after)
    return validateBundle(files).flatMap(({ severity, message }) => (severity === 'error' ? [message] : []))
  }

  test.each([
    ['an invalid version', csvPath, 'version: 1.2.3', 'version: latest', /spec\.version must be a semantic version/],
    ['a wrong name', csvPath, 'name: home-operator.v1.2.3', 'name: home', /metadata\.name must end with \.v1\.2\.3/],
    ['a descriptor of an unknown field', csvPath, 'path: image', 'path: picture', /there is no field spec\.picture/],
    [
      'an owned CRD that is missing',
      csvPath,
      'name: homes.ajd.my.domain',
      'name: a.b',
      /owned CRD a\.b is not in the bundle/,
    ],
    [
      'a missing Deployment',
      csvPath,
      /deploymentName: .*/,
      'deploymentName: x',
      /deployment x, which is not in the bundle/,
    ],
    ['examples that are not JSON', csvPath, '"kind": "Home"', '"kind": Home', /alm-examples is not valid JSON/],
    [
      'examples of kinds that are not owned',
      csvPath,
      /ajd\.my\.domain\/v\w+/,
      'ajd.my.domain/v9',
      /v9 Home, which is not owned/,
    ],
    ['no install mode', csvPath, 'supported: true', 'supported: false', /supports no mode/],
    ['invalid YAML', csvPath, 'spec:', 'spec: [', /yaml: /],
  ])('reports %s', (_, path, from, to, message) => {
    expect(broken(path, from, to).join('\n')).toMatch(message)
  })

  test('reports a default channel that is not among the channels', () => {
    const annotations = 'bundle/metadata/annotations.yaml'
    expect(broken(annotations, 'default.v1: alpha', 'default.v1: stable')).toEqual([
      'the default channel stable is not among alpha',
    ])
  })
})

describe('channelsOf()', () => {
  test('keeps the channels of the bundle unless flags name others', () => {
    const present = bundle(home, {}, ['stable', 'fast'])
    expect(channelsOf({}, present)).toEqual({ channels: ['stable', 'fast'], defaultChannel: 'stable' })
    expect(channelsOf({ channels: 'beta' }, present)).toEqual({ channels: ['beta'] })
    expect(channelsOf({ 'default-channel': 'fast' }, present)).toMatchObject({ defaultChannel: 'fast' })
  })
})

describe('examplesOf()', () => {
  test('returns the samples of the user for resources of the operator only', () => {
    const text =
      'apiVersion: ajd.my.domain/v1\nkind: Home\nmetadata: {name: mine}\n---\napiVersion: v1\nkind: Namespace\n'
    const present = new Map([['config/samples/mine.yaml', text]])
    expect(examplesOf(describeOperator(home), present)).toMatchObject([
      { kind: 'Home', metadata: { name: 'mine' } },
      // Catalogs expect an example of each served version.
      { apiVersion: 'ajd.my.domain/v1alpha1', kind: 'Home' },
    ])
  })
})
