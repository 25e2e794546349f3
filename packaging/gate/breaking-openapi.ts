// Finds the changes of an OpenAPI document that would break clients of an earlier one: something they send is refused,
// or something they read is gone.
import type { BreakingChange } from './breaking-change.ts'

type Json = { readonly [name: string]: Json | undefined }
/** Whether clients read or send the values of a schema. */
type Side = 'read' | 'sent'

export function breakingOpenApi(before: unknown, after: unknown): readonly BreakingChange[] {
  const [old, next] = [before as Json, after as Json]
  const changes: BreakingChange[] = []
  for (const [path, methods] of Object.entries(old.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods ?? {})) {
      const subject = `${method.toUpperCase()} ${path}`
      const found = next.paths?.[path]?.[method]
      const tell = (description: string) => changes.push({ subject, description: `${subject}: ${description}` })
      if (found === undefined) tell('is gone')
      else compareOperation({ old: operation ?? {}, next: found, tell, resolve: [resolver(old), resolver(next)] })
    }
  }
  return changes
}

type Resolve = (schema: Json | undefined) => Json

interface Comparison<T = Json> {
  readonly old: T
  readonly next: T
  readonly tell: (description: string) => void
  readonly resolve: readonly [old: Resolve, next: Resolve]
}

/** The comparison of a request body or a response, or of a part of one. */
interface Described extends Comparison<Json | undefined> {
  readonly side: Side
  /** The place, for the description of the change. */
  readonly where: string
}

function compareOperation({ old, next, tell, resolve }: Comparison): void {
  const [oldOf, nextOf] = resolve
  const known = listOf(old.parameters).map(oldOf)
  for (const parameter of listOf(next.parameters).map(nextOf)) {
    const same = known.find(({ name, in: place }) => name === parameter.name && place === parameter.in)
    if (isTrue(parameter.required) && !isTrue(same?.required)) tell(`the parameter ${parameter.name} is required`)
  }
  if (listOf(next.security).length > 0 && listOf(old.security).length === 0) tell('needs a token')
  const contents = { old: old.requestBody?.content, next: next.requestBody?.content }
  compareContents({ ...contents, tell, resolve, side: 'sent', where: 'the request' })
  for (const [status, response] of Object.entries(old.responses ?? {})) {
    const where = `the answer ${status}`
    const [was, is] = [oldOf(response), next.responses?.[status]]
    if (is === undefined) tell(`${where} is gone`)
    else compareContents({ old: was.content, next: nextOf(is).content, tell, resolve, side: 'read', where })
  }
}

function compareContents({ old, next, ...place }: Described): void {
  for (const [type, content] of Object.entries(old ?? {})) {
    if (next?.[type] === undefined) place.tell(`${place.where} is no ${type} any more`)
    else compareSchemas({ ...place, old: content?.schema, next: next[type].schema })
  }
}

function compareSchemas({ old, next, ...place }: Described): void {
  const { side, where, tell, resolve } = place
  const [was, is] = [resolve[0](old), resolve[1](next)]
  if (was.type !== undefined && JSON.stringify(was.type) !== JSON.stringify(is.type)) {
    tell(`${where} has another type`)
    return
  }
  const [needed, needs] = [listOf(was.required).map(String), listOf(is.required).map(String)]
  const lost = side === 'read' ? needed.filter((name) => !needs.includes(name)) : []
  for (const name of lost) tell(`${where} may lack ${name}`)
  const demanded = side === 'sent' ? needs.filter((name) => !needed.includes(name)) : []
  for (const name of demanded) tell(`${where} needs ${name}`)
  for (const [name, property] of Object.entries(was.properties ?? {})) {
    const there = is.properties?.[name]
    if (there === undefined) tell(`${where} has no ${name} any more`)
    else compareSchemas({ ...place, old: property, next: there, where: `${where}, ${name}` })
  }
  if (side === 'sent' && is.enum !== undefined) {
    const taken = listOf(is.enum).map(String)
    for (const value of listOf(was.enum).map(String)) if (!taken.includes(value)) tell(`${where} takes no ${value}`)
  }
  if (was.items !== undefined) compareSchemas({ ...place, old: was.items, next: is.items, where: `${where}, each` })
}

/** Follows `$ref`, and merges `allOf` into one schema. */
function resolver(document: Json): Resolve {
  return function resolve(schema): Json {
    if (schema === undefined) return {}
    const reference: unknown = schema.$ref
    if (typeof reference === 'string') {
      const names = reference.replace(/^#\//, '').split('/')
      return resolve(names.reduce<Json | undefined>((at, name) => at?.[name], document))
    }
    if (schema.allOf === undefined) return schema
    const parts = [schema, ...listOf(schema.allOf).map(resolve)]
    return Object.assign({}, ...parts, {
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
      required: parts.flatMap(({ required }) => listOf(required)),
    })
  }
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function isTrue(value: unknown): boolean {
  return value === true
}
