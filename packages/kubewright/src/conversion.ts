// Conversions between the versions of a custom resource.
export {
  type CheckConversionOptions,
  type Conversion,
  type ConversionReport,
  checkConversion,
  defineConversion,
  type Spoke,
  type SpokeConversion,
  type SpokeOf,
  spoke,
} from '@kubewright/runtime'
