import { GoURL, isDNS1123Subdomain, isValidPortNum } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The address of a webhook, as a client sends it. */
export type WebhookClient = Unchecked<admission.WebhookClientConfig>

/** Checks the address of a webhook, a URL or a service (apiserver/pkg/util/webhook/validation.go). */
export function validateWebhookClient({ url, service }: WebhookClient, path: FieldPath, errors: FieldError[]): void {
  if ((url === undefined) === !service) errors.push(required(path, 'exactly one of url or service is required'))
  else if (url !== undefined) validateWebhookUrl(url, path.child('url'), errors)
  else if (service) {
    const { name = '', namespace = '', path: urlPath, port = 443 } = service
    // As in kube-apiserver: errors of admission webhooks swap the paths of name and namespace.
    validateWebhookService({ namespace: name, name: namespace, path: urlPath, port }, path.child('service'), errors)
  }
}

/** Checks the URL of a webhook. */
export function validateWebhookUrl(text: string, path: FieldPath, errors: FieldError[]): void {
  const form = '; desired format: https://host[/path]'
  let url: GoURL
  try {
    url = GoURL.parse(text)
  } catch (error) {
    errors.push(required(path, `url must be a valid URL: ${(error as Error).message}${form}`))
    return
  }
  if (url.scheme !== 'https') errors.push(invalid(path, url.scheme, `'https' is the only allowed URL scheme${form}`))
  if (url.host === '') errors.push(invalid(path, url.host, `host must be specified${form}`))
  if (url.user) {
    const { name, password } = url.user
    const shown = password === undefined ? name : `${name}:${password}`
    errors.push(invalid(path, shown, 'user information is not permitted in the URL'))
  }
  if (url.fragment !== '') errors.push(invalid(path, url.fragment, 'fragments are not permitted in the URL'))
  if (url.rawQuery !== '') errors.push(invalid(path, url.rawQuery, 'query parameters are not permitted in the URL'))
}

/** The service of a webhook. */
export interface WebhookService {
  readonly namespace: string
  readonly name: string
  readonly path: string | undefined
  readonly port: number
}

/** Checks the service of a webhook. */
export function validateWebhookService(service: WebhookService, path: FieldPath, errors: FieldError[]): void {
  if (service.name === '') errors.push(required(path.child('name')))
  if (service.namespace === '') errors.push(required(path.child('namespace')))
  const problems = isValidPortNum(service.port)
  if (problems.length > 0) {
    errors.push(invalid(path.child('port'), service.port, `port is not valid: ${problems.join(', ')}`))
  }
  const text = service.path ?? ''
  if (text === '' || text === '/') return
  const at = path.child('path')
  if (text === '//') {
    errors.push(invalid(at, text, 'segment[0] may not be empty'))
    return
  }
  if (!text.startsWith('/')) errors.push(invalid(at, text, "must start with a '/'"))
  const steps = text.slice(1).replace(/\/$/, '').split('/')
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(at, text, `segment[${i}] may not be empty`))
    else for (const problem of isDNS1123Subdomain(step)) errors.push(invalid(at, text, `segment[${i}]: ${problem}`))
  }
}
