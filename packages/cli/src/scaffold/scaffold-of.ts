import { familiesOf, type KindFamily } from './kind-family.ts'
import { importPath, variableOf } from './kind-names.ts'
import { formatProject, type Project } from './project.ts'
import { addVersion, storeVersion } from './source/add-version.ts'
import { keepingTabs } from './source/keeping-tabs.ts'
import { type PartList, type Registration, registerPart, registrationHint } from './source/register-part.ts'
import { controllerText } from './templates/controller-file.ts'
import { conversionTestText, conversionText } from './templates/conversion-files.ts'
import { mainText, operatorText } from './templates/operator-files.ts'
import { projectFiles } from './templates/project-files.ts'
import { resourceText } from './templates/resource-file.ts'
import { samplePath, sampleText } from './templates/sample-file.ts'
import { testText } from './templates/test-file.ts'
import { webhookTestText, webhookText } from './templates/webhook-files.ts'

/** A change of a file that can also be applied to the user's version of it. */
export interface ScaffoldEdit {
  /** Identifies the change: two edits with the same id make the same change. */
  readonly id: string
  /** Undefined if the text is not written in a form that the edit understands. */
  apply(text: string): string | undefined
  /** The change to make by hand in that case. */
  readonly hint: string
}

/** A file of the scaffold. */
export interface ScaffoldFile {
  readonly base: string
  /** In the order in which they are applied. */
  readonly edits: readonly ScaffoldEdit[]
}

/** Every file of a project by path. The result depends on the PROJECT file alone. */
export function scaffoldOf(project: Project): Map<string, ScaffoldFile> {
  const files = new Map<string, ScaffoldFile>()
  const add = (path: string, base: string, edits: readonly ScaffoldEdit[] = []): void => {
    files.set(path, { base, edits })
  }
  const families = familiesOf(project)
  add('PROJECT', formatProject(project))
  for (const [path, text] of projectFiles(project)) add(path, text)
  add('src/main.ts', mainText(project))
  add('src/operator.ts', operatorText(project), registrationsOf(families).map(registrationEdit))
  for (const family of families) addKind(project, family, add)
  return files
}

/** The text of a file after all its edits. */
export function textOf({ base, edits }: ScaffoldFile): string {
  return edits.reduce((text, edit) => edit.apply(text) ?? text, base)
}

type Add = (path: string, base: string, edits?: readonly ScaffoldEdit[]) => void

function addKind(project: Project, family: KindFamily, add: Add): void {
  const { stem, isForeign, versions, controllers } = family
  if (!isForeign) {
    add(`${stem}.ts`, resourceText(project, family), versionEdits(family))
    for (const version of versions) {
      const options = { hasImage: family.image !== undefined, isFurther: version !== versions[0] }
      add(samplePath(version), sampleText(project, version, options))
    }
    if (controllers.length === 0) add(`${stem}.test.ts`, testText(project, family, undefined))
  }
  for (const controller of controllers) {
    add(`${controller.stem}.controller.ts`, controllerText(project, family, controller))
    add(`${controller.stem}.test.ts`, testText(project, family, controller))
  }
  for (const webhook of family.webhooks) {
    add(`${webhook.stem}.webhook.ts`, webhookText(project, family, webhook))
    if (!isForeign) add(`${webhook.stem}.webhook.test.ts`, webhookTestText(project, family, webhook))
    else if (controllers.length === 0) add(`${stem}.test.ts`, testText(project, family, undefined))
  }
  if (family.isConverted) {
    add(`${stem}.conversion.ts`, conversionText(project, family))
    add(`${stem}.conversion.test.ts`, conversionTestText(project, family))
  }
}

function versionEdits({ kind, versions, stored }: KindFamily): ScaffoldEdit[] {
  const [first, ...others] = versions
  const edits: ScaffoldEdit[] = others.map(({ version }) => ({
    id: `version ${version}`,
    apply: (text) => keepingTabs(text, (spaced) => addVersion(spaced, kind, version)),
    hint: `add the version ${version} to ${kind}: versions: { ${first!.version}: { storage: true, ... }, ${version}: { ... } }`,
  }))
  if (stored === first) return edits
  const { version } = stored
  const store: ScaffoldEdit = {
    id: `storage ${version}`,
    apply: (text) => keepingTabs(text, (spaced) => storeVersion(spaced, kind, version)),
    hint: `set storage: true in the version ${version} of ${kind}, and remove it from the others`,
  }
  // Right after the version is added, because a later version is a copy of the storage version at that time.
  const at = edits.findIndex(({ id }) => id === `version ${version}`)
  return [...edits.slice(0, at + 1), store, ...edits.slice(at + 1)]
}

function registrationEdit(registration: Registration): ScaffoldEdit {
  const { list, name, from } = registration
  return {
    id: `${list} ${name} ${from}`,
    apply: (text) => keepingTabs(text, (spaced) => registerPart(spaced, registration)),
    hint: registrationHint(registration),
  }
}

/** The parts to register in src/operator.ts. */
function registrationsOf(families: readonly KindFamily[]): Registration[] {
  const taken = new Set<string>()
  const register = (list: PartList, name: string, path: string, family: KindFamily): Registration => {
    const from = importPath('src/operator.ts', path)
    if (!taken.has(name)) {
      taken.add(name)
      return { list, name, from }
    }
    const first = variableOf(family.group.split('.')[0]!)
    return { list, name, from, alias: `${first}${name[0]!.toUpperCase()}${name.slice(1)}` }
  }
  return families.flatMap((family) => {
    const { kind, prefix, stem, controllers, webhooks, isForeign, isConverted } = family
    const isNamed = controllers.length > 0 || webhooks.length > 0
    return [
      ...(isForeign || isNamed ? [] : [register('kinds', kind, `${stem}.ts`, family)]),
      ...controllers.map((controller) =>
        register('controllers', `${controller.prefix}Controller`, `${controller.stem}.controller.ts`, family),
      ),
      ...webhooks.map((webhook) =>
        register('webhooks', `${webhook.prefix}Webhook`, `${webhook.stem}.webhook.ts`, family),
      ),
      ...(isConverted ? [register('conversions', `${prefix}Conversion`, `${stem}.conversion.ts`, family)] : []),
    ]
  })
}
