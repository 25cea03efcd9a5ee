import { parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { TextSource } from '../kustomize/kustomization.ts'
import { jsonText } from '../text/json-text.ts'
import { chartObjects } from './chart-objects.ts'
import { chartTemplates, chartValues, schemaRules } from './chart-templates.ts'
import { valuesInSchema, valuesSchema, valuesYaml } from './chart-values.ts'
import { derived, editable, editableTemplate, type GeneratedFile, type GeneratedFiles } from './generated-file.ts'
import { yamlOf } from './manifest.ts'
import { minKubeVersion } from './min-kube-version.ts'

/** The options of {@link chartFiles}. */
export interface ChartOptions {
  /** The name of the operator, which is that of the chart. */
  readonly name: string
  /** The texts of config/ by path. */
  readonly config: TextSource
  /** @default '0.0.1' */
  readonly version?: string | undefined
  readonly description?: string | undefined
  /** The existing files of the chart by path. @default none */
  readonly present?: ReadonlyMap<string, string> | undefined
}

/** The folder of the chart. */
export const chartFolder = 'dist/chart'

/**
 * The files of a Helm chart with the objects of config/default, as the user left it. Users configure it in values.yaml, which keeps their
 * changes. Names begin with that of the operator, not of the release, because an operator is installed once.
 */
export function chartFiles(options: ChartOptions): GeneratedFiles {
  const { name, config, present = new Map<string, string>() } = options
  const chart = chartObjects(config)
  const files = new Map<string, GeneratedFile>()
  for (const [path, text] of chartTemplates(name, chart)) {
    files.set(`${chartFolder}/templates/${path}`, editableTemplate(text))
  }
  const values = chartValues(chart)
  const text = valuesYaml(values)
  const before = present.get(`${chartFolder}/values.schema.json`)
  // The schema contains the values that were generated last, from which the changes of the user are derived.
  const base = before === undefined ? undefined : valuesInSchema(before, values)
  files.set(`${chartFolder}/values.yaml`, editable(text, base === undefined ? undefined : valuesYaml(base)))
  files.set(`${chartFolder}/values.schema.json`, derived(valuesSchema(values, schemaRules(chart))))
  files.set(`${chartFolder}/Chart.yaml`, chartYaml(options, minKubeVersion(chart.objects)))
  files.set(`${chartFolder}/.helmignore`, { text: '.DS_Store\n.git/\n*.tmp\n', care: 'once' })
  return files
}

/** Chart.yaml. In an existing one, only the versions are changed. */
function chartYaml(
  { name, description, version = '0.0.1', present }: ChartOptions,
  kubeVersion: string,
): GeneratedFile {
  const before = present?.get(`${chartFolder}/Chart.yaml`)
  const wanted = { appVersion: version, kubeVersion: `>=${kubeVersion}-0`, version }
  if (before === undefined || !isJsonObject(parseYaml(before))) {
    const facts = { apiVersion: 'v2', description: description ?? `The operator ${name}`, name, type: 'application' }
    return derived(yamlOf({ ...facts, ...wanted }))
  }
  let text = before
  for (const [field, value] of Object.entries(wanted)) {
    const line = `${field}: ${jsonText(value)}`
    const known = new RegExp(`^${field}:.*$`, 'm')
    const plain = yamlOf({ [field]: value }).trimEnd()
    text = known.test(text) ? text.replace(known, plain) : `${text.replace(/\n?$/, '\n')}${plain || line}\n`
  }
  return derived(text)
}
