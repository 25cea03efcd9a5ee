export { UsageError } from '@kubewright/base'
export type { Command } from './command/command.ts'
export type { CommandContext } from './command/command-context.ts'
export { type BundleOptions, bundleFiles } from './manifests/bundle-files.ts'
export type { BundleFacts } from './manifests/cluster-service-version.ts'
export { type ConfigOptions, configFiles } from './manifests/config-files.ts'
export type { GeneratedFile, GeneratedFiles } from './manifests/generated-file.ts'
export { type ChartOptions, chartFiles } from './manifests/helm-chart.ts'
export { definitionsOf, installManifest, installObjects } from './manifests/install-objects.ts'
export type { Manifest } from './manifests/manifest.ts'
export type { ManifestOptions } from './manifests/manifest-options.ts'
export { manifestsOf } from './manifests/manifests-of.ts'
export {
  type DescribedAccess,
  type DescribedResource,
  type DescribedWebhook,
  type DescribeOptions,
  type DescribingRuntime,
  describeOperator,
  type OperatorDescription,
} from './manifests/operator-description.ts'
export { type BundleProblem, validateBundle } from './manifests/validate-bundle.ts'
export { runCommand } from './run-command.ts'
