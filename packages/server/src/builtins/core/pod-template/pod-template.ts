import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { FieldPath } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { labelsText } from '../../../table/human.ts'
import { containerCells } from '../../../table/workload-columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { defaultPodTemplate } from '../pod/defaults/default-pod-spec.ts'
import { withoutDisabledFields } from '../pod/defaults/drop-disabled-fields.ts'
import type { PodTemplate } from '../pod/pod-types.ts'
import { validatePodTemplateSpec } from '../pod/template/validate-pod-template.ts'
import { podTemplateWarnings } from '../pod/warnings/pod-warnings.ts'

const templatePath = FieldPath.of('template')

function templateOf(object: MutableObject): PodTemplate {
  return (object['template'] ??= {}) as PodTemplate
}

/** PodTemplates (pkg/registry/core/podtemplate). */
export const podTemplates: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'podtemplates',
  table: defineTable<core.PodTemplate>([
    nameColumn,
    textColumn(
      'Containers',
      'Names of the containers.',
      ({ template }) => containerCells(template?.spec?.containers)[0],
    ),
    textColumn('Images', 'Images of the containers.', ({ template }) => containerCells(template?.spec?.containers)[1]),
    textColumn('Pod Labels', 'Labels of the pods.', ({ template }) => labelsText(template?.metadata?.labels)),
  ]),
  strategy: withoutDisabledFields(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      generation: (object, old) => !semanticEqual(templateOf(object), templateOf(old)),
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
    (object) => templateOf(object).spec,
  ),
})
