// Signing keys in PostgreSQL.
import type { SigningKeyVerbs, StoredSigningKey } from '../../signing-key-contract.ts'
import type { Statement } from '../connection.ts'
import { decide, HAS_MOVED } from '../engine/decide.ts'
import type { Pool } from '../engine/pool.ts'

const KEYS: Statement = {
  name: 'signingKeys',
  text: `select kid, private_jwk as "privateJwk", created_at as "createdAt", ${HAS_MOVED}
    from workspace_gateway.signing_key order by created_at desc, kid`,
}
// One at a time: of two that see the same newest key, both would add one.
const LOCK_KEYS: Statement = {
  name: 'lockSigningKeys',
  text: 'lock table workspace_gateway.signing_key in share row exclusive mode',
}
const ADD: Statement = {
  name: 'addSigningKey',
  text: `insert into workspace_gateway.signing_key (kid, private_jwk, created_at)
    select $1, $2, $3::bigint
    where (select kid from workspace_gateway.signing_key order by created_at desc, kid limit 1) is not distinct from $4
    returning kid`,
}
const REMOVE: Statement = {
  name: 'removeSigningKey',
  text: 'delete from workspace_gateway.signing_key where kid = $1 returning kid',
}
const REWRITE: Statement = {
  name: 'rewriteSigningKeys',
  text: `update workspace_gateway.signing_key k set private_jwk = asked.private_jwk
    from unnest($1::text[], $2::text[]) as asked (kid, private_jwk) where k.kid = asked.kid`,
}
/** Writes the table's file anew, without the rows of before. The server's own log keeps them until it is recycled. */
const ERASE = 'vacuum full workspace_gateway.signing_key'

export function createSigningKeys(pool: Pool): SigningKeyVerbs {
  return {
    signingKeys: () =>
      pool.repeatable(async (connection) => {
        const rows = await decide<StoredSigningKey>(connection, KEYS, [], 1)
        return rows.map(({ kid, privateJwk, createdAt }) => ({ kid, privateJwk, createdAt }))
      }),
    addSigningKey: (key, newestKid) =>
      pool.transaction(async (connection) => {
        await connection.query(LOCK_KEYS)
        const values = [key.kid, key.privateJwk, key.createdAt, newestKid]
        return (await connection.query(ADD, values)).length > 0
      }),
    removeSigningKey: (kid) =>
      pool.once(async (connection) => {
        const removed = await connection.query(REMOVE, [kid])
        await connection.script(ERASE)
        return removed.length > 0
      }),
    rewriteSigningKeys: (keys) =>
      pool.repeatable(async (connection) => {
        await connection.query(REWRITE, [keys.map(({ kid }) => kid), keys.map(({ privateJwk }) => privateJwk)])
        await connection.script(ERASE)
      }),
  }
}
