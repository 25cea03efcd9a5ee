/** The part of an object that {@link isTrue} and {@link isFalse} read. */
export interface WithConditions {
  readonly status?:
    | {
        readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined
      }
    | undefined
}

/** Whether the condition of this type is True. */
export function isTrue(type: string): (object: WithConditions) => boolean {
  return (object) =>
    object.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false
}

/** Whether the condition of this type is False. */
export function isFalse(type: string): (object: WithConditions) => boolean {
  return (object) =>
    object.status?.conditions?.some((condition) => condition.type === type && condition.status === 'False') ?? false
}
