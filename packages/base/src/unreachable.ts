import { KubewrightError } from './kubewright-error.ts'

/** Throws the error of a state that no input can cause. Its code is `KW_DEFECT`. */
export function unreachable(message: string): never {
  throw new KubewrightError('KW_DEFECT', message)
}
