import { isConfigMapKey, isRelaxedEnvVarName, nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { addInvalid, checkLabel, checkNoBacksteps } from '../../../../checks/field-checks.ts'
import type { Container } from '../../pod-types.ts'
import { envFieldPaths } from '../downward-fields.ts'
import { validateFieldSelector, validateResourceFieldSelector } from '../validate-downward.ts'

type EnvVar = NonNullable<Container['env']>[number]
type EnvFrom = NonNullable<Container['envFrom']>[number]

/** Checks the environment variables of a container. */
export function validateEnv(vars: readonly EnvVar[], path: FieldPath, errors: FieldError[]): void {
  for (const [i, variable] of vars.entries()) {
    const at = path.index(i)
    if (!variable.name) errors.push(required(at.child('name')))
    else addInvalid(errors, at.child('name'), variable.name, isRelaxedEnvVarName(variable.name))
    if (variable.valueFrom) validateValueFrom(variable, at.child('valueFrom'), errors)
  }
}

function validateValueFrom({ value, valueFrom }: EnvVar, path: FieldPath, errors: FieldError[]): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom!
  if (fieldRef) validateFieldSelector(fieldRef, envFieldPaths, path.child('fieldRef'), errors)
  if (resourceFieldRef) validateResourceFieldSelector(resourceFieldRef, false, path.child('resourceFieldRef'), errors)
  if (configMapKeyRef) validateKeySelector(configMapKeyRef, path.child('configMapKeyRef'), errors)
  if (secretKeyRef) validateKeySelector(secretKeyRef, path.child('secretKeyRef'), errors)
  if (fileKeyRef) {
    const { key, volumeName, path: file } = fileKeyRef
    const at = path.child('fileKeyRef')
    if (!key) errors.push(required(at.child('key')))
    else addInvalid(errors, at.child('key'), key, isRelaxedEnvVarName(key))
    if (!volumeName) errors.push(required(at.child('volumeName')))
    else checkLabel(errors, at.child('volumeName'), volumeName)
    if (!file) errors.push(required(at.child('path')))
    else checkNoBacksteps(errors, at.child('path'), file)
  }
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length
  if (count === 0) {
    const text =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    errors.push(invalid(path, '', text))
  } else if (value) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
}

function validateKeySelector(
  { name = '', key }: { name?: string | undefined; key?: string | undefined },
  path: FieldPath,
  errors: FieldError[],
): void {
  addInvalid(errors, path.child('name'), name, nameIsDNSSubdomain(name, false))
  if (!key) errors.push(required(path.child('key')))
  else addInvalid(errors, path.child('key'), key, isConfigMapKey(key))
}

/** Checks the ConfigMaps and Secrets that supply environment variables. */
export function validateEnvFrom(sources: readonly EnvFrom[], path: FieldPath, errors: FieldError[]): void {
  for (const [i, source] of sources.entries()) {
    const at = path.index(i)
    if (source.prefix) addInvalid(errors, at.child('prefix'), source.prefix, isRelaxedEnvVarName(source.prefix))
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      const reference = source[kind]
      if (!reference) continue
      const name = reference.name ?? ''
      if (name === '') errors.push(required(at.child(kind, 'name')))
      else addInvalid(errors, at.child(kind, 'name'), name, nameIsDNSSubdomain(name, true))
    }
    if (!source.configMapRef && !source.secretRef) {
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    } else if (source.configMapRef && source.secretRef) {
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    }
  }
}
