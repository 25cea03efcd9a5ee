import { parseYaml } from '@kubewright/api'
import { asJsonObject, asList, errorText, textOf } from '@kubewright/base'

/** A problem of a bundle. */
export interface BundleProblem {
  readonly severity: 'error' | 'warning'
  readonly path: string
  readonly message: string
}

type Fields = Readonly<Record<string, unknown>>

const semver = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/
const channels = 'operators.operatorframework.io.bundle.channels.v1'
const defaultChannel = 'operators.operatorframework.io.bundle.channel.default.v1'
const required = [
  channels,
  'operators.operatorframework.io.bundle.manifests.v1',
  'operators.operatorframework.io.bundle.mediatype.v1',
  'operators.operatorframework.io.bundle.metadata.v1',
  'operators.operatorframework.io.bundle.package.v1',
]

/** Checks a bundle, given as texts by path, for problems that OLM and its catalogs reject or warn about. Needs no cluster. */
export function validateBundle(files: ReadonlyMap<string, string>): BundleProblem[] {
  const problems: BundleProblem[] = []
  const documents = new Map<string, Fields>()
  for (const [path, text] of files) {
    if (!/\.ya?ml$/.test(path)) continue
    try {
      documents.set(path, asJsonObject(parseYaml(text)))
    } catch (error) {
      problems.push({ severity: 'error', path, message: errorText(error) })
    }
  }
  const versions = [...documents].filter(([, { kind }]) => kind === 'ClusterServiceVersion')
  if (versions.length !== 1) {
    const message = `a bundle must have exactly one ClusterServiceVersion, not ${versions.length}`
    return [...problems, { severity: 'error', path: 'bundle/manifests', message }]
  }
  const definitions = [...documents.values()].filter(({ kind }) => kind === 'CustomResourceDefinition')
  const [path, version] = versions[0]!
  const check = new Check(path, problems)
  checkVersion(check, version, definitions)
  checkMetadata(
    new Check('bundle/metadata/annotations.yaml', problems),
    documents.get('bundle/metadata/annotations.yaml'),
  )
  return problems
}

class Check {
  readonly #path: string
  readonly #problems: BundleProblem[]

  constructor(path: string, problems: BundleProblem[]) {
    this.#path = path
    this.#problems = problems
  }

  error(isFine: boolean, message: string): void {
    if (!isFine) this.#problems.push({ severity: 'error', path: this.#path, message })
  }

  warning(isFine: boolean, message: string): void {
    if (!isFine) this.#problems.push({ severity: 'warning', path: this.#path, message })
  }
}

function checkVersion(check: Check, csv: Fields, definitions: readonly Fields[]): void {
  const { metadata, spec: specField } = csv
  const { name, annotations } = asJsonObject(metadata)
  const spec = asJsonObject(specField)
  const version = textOf(spec['version'])
  check.error(
    semver.test(version),
    `spec.version must be a semantic version, not "${version}": set "version" in package.json`,
  )
  check.error(
    textOf(name).endsWith(`.v${version}`),
    `metadata.name must end with .v${version}: it is "${textOf(name)}"`,
  )
  for (const field of ['displayName', 'install', 'installModes']) {
    check.error(spec[field] !== undefined, `spec.${field} is required`)
  }
  for (const [field, source] of [
    ['description', '"description"'],
    ['provider', '"author"'],
    ['maintainers', '"author" with an e-mail address'],
    ['links', '"homepage"'],
    ['icon', '"kubewright": { "icon": FILE }'],
  ] as const) {
    check.warning(spec[field] !== undefined, `spec.${field} is missing: it comes from ${source} in package.json`)
  }
  const modes = asList(spec['installModes']).map(asJsonObject)
  check.error(
    modes.some(({ supported }) => supported === true),
    'spec.installModes supports no mode: OLM cannot install it',
  )
  checkOwned(check, spec, definitions)
  checkExamples(check, textOf(asJsonObject(annotations)['alm-examples']), spec, definitions)
  checkWebhooks(check, spec, modes)
}

function checkOwned(check: Check, spec: Fields, definitions: readonly Fields[]): void {
  const owned = asList(asJsonObject(spec['customresourcedefinitions'])['owned']).map(asJsonObject)
  const names = definitions.map(({ metadata }) => textOf(asJsonObject(metadata)['name']))
  for (const { name, kind, version, specDescriptors, statusDescriptors } of owned) {
    const definition = definitions.find(({ metadata }) => asJsonObject(metadata)['name'] === name)
    check.error(definition !== undefined, `owned CRD ${textOf(name)} is not in the bundle`)
    if (definition === undefined) continue
    const { names: named, versions } = asJsonObject(definition['spec'])
    check.error(
      asJsonObject(named)['kind'] === kind,
      `owned CRD ${textOf(name)} does not define the kind ${textOf(kind)}`,
    )
    const served = asList(versions)
      .map(asJsonObject)
      .find((one) => one['name'] === version)
    check.error(served !== undefined, `owned CRD ${textOf(name)} has no version ${textOf(version)}`)
    const schema = asJsonObject(asJsonObject(served?.['schema'])['openAPIV3Schema'])
    for (const [half, descriptors] of [
      ['spec', specDescriptors],
      ['status', statusDescriptors],
    ] as const) {
      for (const { path } of asList(descriptors).map(asJsonObject)) {
        check.error(
          hasField(schema, [half, ...textOf(path).split('.')]),
          `descriptor of ${textOf(kind)}: there is no field ${half}.${textOf(path)}`,
        )
      }
    }
  }
  for (const name of names) {
    check.error(
      owned.some((one) => one['name'] === name),
      `CRD ${name} is in the bundle, but not owned`,
    )
  }
}

function checkExamples(check: Check, text: string, csv: Fields, definitions: readonly Fields[]): void {
  let examples: readonly unknown[]
  try {
    examples = asList(JSON.parse(text === '' ? '[]' : text))
  } catch {
    check.error(false, 'the annotation alm-examples is not valid JSON')
    return
  }
  const owned = asList(asJsonObject(csv['customresourcedefinitions'])['owned']).map(asJsonObject)
  // The name of a CRD is PLURAL.GROUP.
  const known = owned.map(
    (one) => `${textOf(one['name']).replace(/^[^.]*\./, '')}/${textOf(one['version'])} ${textOf(one['kind'])}`,
  )
  for (const { apiVersion, kind } of examples.map(asJsonObject)) {
    const id = `${textOf(apiVersion)} ${textOf(kind)}`
    check.error(
      known.includes(id),
      `an example is of ${id}, which is not owned: correct or remove it in config/samples`,
    )
  }
  for (const { spec } of definitions) {
    const { group, names } = asJsonObject(spec)
    const { kind } = asJsonObject(names)
    const isShown = examples
      .map(asJsonObject)
      .some((one) => one['kind'] === kind && textOf(one['apiVersion']).startsWith(`${textOf(group)}/`))
    check.warning(isShown, `there is no example of ${textOf(kind)}: add one to config/samples`)
  }
}

function checkWebhooks(check: Check, spec: Fields, modes: readonly Fields[]): void {
  const deployments = asList(asJsonObject(asJsonObject(spec['install'])['spec'])['deployments']).map(asJsonObject)
  const names = deployments.map(({ name }) => name)
  check.error(deployments.length > 0, 'spec.install.spec.deployments is empty: the operator would not run')
  const webhooks = asList(spec['webhookdefinitions']).map(asJsonObject)
  for (const { generateName, deploymentName } of webhooks) {
    check.error(
      names.includes(deploymentName),
      `webhook ${textOf(generateName)} is served by the deployment ${textOf(deploymentName)}, which is not in the bundle`,
    )
  }
  const isConverting = webhooks.some(({ type }) => type === 'ConversionWebhook')
  const isEverywhere = modes.some(({ type, supported }) => type === 'AllNamespaces' && supported === true)
  check.error(!isConverting || isEverywhere, 'conversion webhooks require the install mode AllNamespaces')
}

function checkMetadata(check: Check, document: Fields | undefined): void {
  check.error(document !== undefined, 'is missing')
  const annotations = asJsonObject(document?.['annotations'])
  for (const name of required) check.error(textOf(annotations[name]) !== '', `the annotation ${name} is missing`)
  const known = textOf(annotations[channels]).split(',')
  const chosen = textOf(annotations[defaultChannel])
  check.error(chosen === '' || known.includes(chosen), `the default channel ${chosen} is not among ${known.join(', ')}`)
}

function hasField(schema: Fields, path: readonly string[]): boolean {
  const [first, ...rest] = path
  if (first === undefined) return true
  const field = asJsonObject(schema['properties'])[first]
  return field !== undefined && hasField(asJsonObject(field), rest)
}
