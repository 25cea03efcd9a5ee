import type { AdmissionWebhook } from './define-admission.ts'
import type { AccessReviewWebhook, TokenReviewWebhook } from './define-reviews.ts'
import type { Webhook } from './define-webhook.ts'

/** Any webhook that an operator can have; `type` distinguishes them. Webhooks of one kind have the type `kind`. */
export type AnyWebhook = Webhook | AdmissionWebhook | TokenReviewWebhook | AccessReviewWebhook
