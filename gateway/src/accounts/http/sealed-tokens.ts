import { DomainError, REPLAYED_HEADER, type Reply } from '@tocsin/http';
import type { Keyring } from '@tocsin/runtime';
import type { ApiKeyWire } from './wire.ts';

/** The purpose of the keyring that encrypts the tokens of stored responses. */
export const API_TOKEN_PURPOSE = 'api-token';

/** Responses with a token, as they are stored with an Idempotency-Key: the token is encrypted (contract: Idempotency). */
export interface SealedTokens {
  /** Returns the text to store. */
  seal(key: ApiKeyWire, token: string): string;
  /**
   * Returns the response of a stored text, with the token. Other responses stay as they are.
   * @param checkReplay called before the token of an earlier request is revealed; throws if the caller could not get it now
   */
  reveal(stored: Reply<never>, checkReplay: (key: ApiKeyWire) => Promise<void>): Promise<Reply<never>>;
}

interface StoredReply {
  api_key: ApiKeyWire;
  sealed_token: { key_id: string; ciphertext: string };
}

const contextOf = ({ id }: ApiKeyWire) => `api key ${id}`;

export function sealedTokens(keyring: Keyring): SealedTokens {
  const open = ({ api_key: key, sealed_token: sealed }: StoredReply): string => {
    try {
      const ciphertext = Buffer.from(sealed.ciphertext, 'base64');
      return keyring.open({ keyId: sealed.key_id, ciphertext }, contextOf(key));
    } catch (cause) {
      throw new DomainError(
        'idempotency_outcome_unknown',
        `The token of the key ${key.id} can no longer be shown; revoke the key and create another one`,
        { details: { api_key_id: key.id }, cause },
      );
    }
  };
  return {
    seal: (key, token) => {
      const { keyId, ciphertext } = keyring.seal(token, contextOf(key));
      const stored: StoredReply = {
        api_key: key,
        sealed_token: { key_id: keyId, ciphertext: ciphertext.toString('base64') },
      };
      return JSON.stringify(stored);
    },
    reveal: async (stored, checkReplay) => {
      if ((stored.status ?? 200) >= 400) return stored;
      const parsed = JSON.parse(stored.text ?? '') as StoredReply;
      if (stored.headers?.[REPLAYED_HEADER] !== undefined) await checkReplay(parsed.api_key);
      return { ...stored, text: JSON.stringify({ api_key: parsed.api_key, token: open(parsed) }) };
    },
  };
}
