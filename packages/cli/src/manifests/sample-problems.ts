import { parseManifests } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import { provenanceOf } from './generated-file.ts'
import type { Manifest } from './manifest.ts'
import type { OperatorDescription } from './operator-description.ts'
import { sampleProblems } from './sample-of.ts'
import type { BundleProblem } from './validate-bundle.ts'

/**
 * The problems of config/samples: values that the CRDs of the operator or their rules reject, and namespaces, which belong to the user of a
 * sample. Generated samples name their problems in comments.
 */
export function sampleProblemsIn(
  { resources }: OperatorDescription,
  texts: ReadonlyMap<string, string>,
): BundleProblem[] {
  const problems: BundleProblem[] = []
  for (const [path, text] of texts) {
    if (!/^config\/samples\/[^/]+\.ya?ml$/.test(path) || path.endsWith('/kustomization.yaml')) continue
    const report = (message: string): void => void problems.push({ severity: 'warning', path, message })
    let samples: readonly Manifest[]
    try {
      samples = parseManifests(text) as Manifest[]
    } catch (error) {
      report(errorText(error))
      continue
    }
    for (const sample of samples) {
      const found = resources.find(({ crd }) => crd.spec.names.kind === sample.kind)
      if (found === undefined) continue
      for (const problem of sampleProblems(found.crd, sample)) report(problem)
      if (sample.metadata?.namespace !== undefined && !provenanceOf(text).isUntouched)
        report(`metadata.namespace is ${sample.metadata.namespace}: remove it, so that users choose the namespace`)
    }
  }
  return problems
}
