import { deepEqual, nameIsDNSSubdomain } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import type { BuiltinResource } from '../../builtin-resources.ts'
import { defaultPodTemplate } from '../pod/defaults/default-pod-spec.ts'
import type { PodTemplate } from '../pod/pod-types.ts'
import { validatePodTemplateSpec } from '../pod/template/validate-pod-template.ts'
import { podTemplateWarnings } from '../pod/warnings/pod-warnings.ts'

const templatePath = FieldPath.of('template')

function templateOf(object: MutableObject): PodTemplate {
  return (object['template'] ??= {}) as PodTemplate
}

/** PodTemplates. */
export const podTemplates: BuiltinResource = {
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    generation: (object, old) => !deepEqual(templateOf(object), templateOf(old)),
    setDefaults: (object) => defaultPodTemplate(templateOf(object)),
    validate: (object) => validatePodTemplateSpec(templateOf(object), templatePath),
    metadataOnUpdate: ['update'],
    validateUpdate: (object) => validatePodTemplateSpec(templateOf(object), templatePath),
    warningsOnCreate: (object) => podTemplateWarnings(templateOf(object), templatePath),
    warningsOnUpdate: (object, old) =>
      object.metadata.generation === old.metadata.generation
        ? []
        : podTemplateWarnings(templateOf(object), templatePath),
  },
}
