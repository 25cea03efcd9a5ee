import type { Operator } from '@kubewright/runtime'
import { type ConfigOptions, configFiles } from './config-files.ts'
import { type DescribeOptions, describeOperator } from './operator-description.ts'

/** The files of config/ that `kubewright generate` writes for an operator into an empty folder, by path. */
export function manifestsOf(operator: Operator, options: ConfigOptions & DescribeOptions = {}): Map<string, string> {
  const files = configFiles(describeOperator(operator, options), options)
  return new Map([...files].map(([path, { text }]) => [path, text]))
}
