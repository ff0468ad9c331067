/** The limits on the input of several services (contract: Limits). Lengths of texts are in Unicode characters. */

/** `q`, and a text operand of `custom_filter`. */
export const MAX_SEARCHED_TEXT = 200;
/** The operands of one item of `custom_filter`. */
export const MAX_OPERANDS = 100;
/** An exact text that a list is filtered by: more than any stored key, slug, tag or region has. */
export const MAX_FILTER_TEXT = 500;
/** The alternatives of a filter for which the API has no limit of its own. */
export const MAX_ALTERNATIVES = 1_000;
/** The key of a status, a severity or a tier. */
export const MAX_KEY = 64;
/** A list of texts before it is trimmed and blank and repeated texts are dropped. */
export const MAX_RAW_LIST = 1_000;
/** A timestamp; RFC 3339 sets no limit to the digits of a second. */
export const MAX_TIMESTAMP = 64;

/** A text value of a custom field, of which `max_length` may allow less. */
export const MAX_TEXT_VALUE = 10_000;
/** Bytes of a value of type `json`, as compact JSON. */
export const MAX_JSON_VALUE_BYTES = 65_536;
/** Bytes of all values of one incident, as compact JSON. */
export const MAX_VALUES_BYTES = 262_144;
/** The values of one request. */
export const MAX_VALUES = 1_000;
/** Bytes of a definition's texts, config and default value, as compact JSON. */
export const MAX_DEFINITION_BYTES = 65_536;
/** The options of a definition, and the items of a multi-select value. */
export const MAX_OPTIONS = 1_000;
/** The value and the label of an option: a filter can name the whole value. */
export const MAX_OPTION_TEXT = MAX_SEARCHED_TEXT;
export const MAX_CURRENCIES = 1_000;

/** The size of a JSON value without white space, in bytes of UTF-8. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
