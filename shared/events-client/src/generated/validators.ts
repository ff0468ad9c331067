// Generated from shared/contracts by npm run generate. Do not edit.
// @ts-nocheck: JavaScript by Ajv
export const validateEnvelope = validate21;
const schema6 = {"type":"object","properties":{"id":{"type":"string","pattern":"^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$"},"type":{"type":"string"},"schema_version":{"type":"number","const":1},"occurred_at":{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},"workspace":{"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"slug":{"type":"string"},"is_demo":{"type":"boolean"}},"required":["id","slug","is_demo"]},"request_id":{"type":["string","null"]},"data":{}},"required":["id","type","schema_version","occurred_at","workspace","request_id","data"]};
const pattern0 = new RegExp("^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$", "u");
const pattern1 = new RegExp("^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$", "u");

function validate21(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((((data.id === undefined) && (missing0 = "id")) || ((data.type === undefined) && (missing0 = "type"))) || ((data.schema_version === undefined) && (missing0 = "schema_version"))) || ((data.occurred_at === undefined) && (missing0 = "occurred_at"))) || ((data.workspace === undefined) && (missing0 = "workspace"))) || ((data.request_id === undefined) && (missing0 = "request_id"))) || ((data.data === undefined) && (missing0 = "data"))){
validate21.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
let data0 = data.id;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(!pattern0.test(data0)){
validate21.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/pattern",keyword:"pattern",params:{pattern: "^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$"}}];
return false;
}
}
else {
validate21.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.type !== undefined){
const _errs3 = errors;
if(typeof data.type !== "string"){
validate21.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.schema_version !== undefined){
let data2 = data.schema_version;
const _errs5 = errors;
if(!((typeof data2 == "number") && (isFinite(data2)))){
validate21.errors = [{instancePath:instancePath+"/schema_version",schemaPath:"#/properties/schema_version/type",keyword:"type",params:{type: "number"}}];
return false;
}
if(1 !== data2){
validate21.errors = [{instancePath:instancePath+"/schema_version",schemaPath:"#/properties/schema_version/const",keyword:"const",params:{allowedValue: 1}}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.occurred_at !== undefined){
let data3 = data.occurred_at;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
validate21.errors = [{instancePath:instancePath+"/occurred_at",schemaPath:"#/properties/occurred_at/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}}];
return false;
}
}
else {
validate21.errors = [{instancePath:instancePath+"/occurred_at",schemaPath:"#/properties/occurred_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.workspace !== undefined){
let data4 = data.workspace;
const _errs9 = errors;
if(errors === _errs9){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if((((data4.id === undefined) && (missing1 = "id")) || ((data4.slug === undefined) && (missing1 = "slug"))) || ((data4.is_demo === undefined) && (missing1 = "is_demo"))){
validate21.errors = [{instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data4.id !== undefined){
let data5 = data4.id;
const _errs11 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
validate21.errors = [{instancePath:instancePath+"/workspace/id",schemaPath:"#/properties/workspace/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs11){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
validate21.errors = [{instancePath:instancePath+"/workspace/id",schemaPath:"#/properties/workspace/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data5 < 1 || isNaN(data5)){
validate21.errors = [{instancePath:instancePath+"/workspace/id",schemaPath:"#/properties/workspace/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs11 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data4.slug !== undefined){
const _errs13 = errors;
if(typeof data4.slug !== "string"){
validate21.errors = [{instancePath:instancePath+"/workspace/slug",schemaPath:"#/properties/workspace/properties/slug/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data4.is_demo !== undefined){
const _errs15 = errors;
if(typeof data4.is_demo !== "boolean"){
validate21.errors = [{instancePath:instancePath+"/workspace/is_demo",schemaPath:"#/properties/workspace/properties/is_demo/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid1 = _errs15 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
else {
validate21.errors = [{instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.request_id !== undefined){
let data8 = data.request_id;
const _errs17 = errors;
if((typeof data8 !== "string") && (data8 !== null)){
validate21.errors = [{instancePath:instancePath+"/request_id",schemaPath:"#/properties/request_id/type",keyword:"type",params:{type: schema6.properties.request_id.type}}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate21.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate21.errors = vErrors;
return errors === 0;
}

export const validate_incident_created = validate22;
const schema7 = {"type":"object","properties":{"incident":{"$ref":"shared0"}},"required":["incident"]};
const schema8 = {"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"reference":{"type":"string"},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991},"title":{"type":"string"},"service":{"type":"string"},"regions":{"type":"array","items":{"type":"string"}},"severity":{"type":"string"},"status":{"type":"string"},"issue_type":{"type":"string"},"impact_summary":{"type":"string"},"team_id":{"anyOf":[{"type":"integer","minimum":1,"maximum":9007199254740991},{"type":"null"}]},"created_at":{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},"created_by":{"type":"string"},"archived_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"archived_by":{"anyOf":[{"type":"integer","minimum":1,"maximum":9007199254740991},{"type":"null"}]},"status_changed_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"severity_mode":{"type":"string"},"slack_channel_id":{"type":"string"},"meet_url":{"anyOf":[{"type":"string"},{"$ref":"shared1"}]},"doc_url":{"anyOf":[{"type":"string"},{"$ref":"shared1"}]},"customer_impact_status":{"type":"string"},"impact_started_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"first_reported_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"first_responded_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"recovered_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"incident_manager":{"type":"string"},"incident_responders":{"type":"array","items":{"type":"string"}},"custom_fields":{"$ref":"shared2"},"event_count":{"type":"integer","minimum":0,"maximum":9007199254740991},"last_event_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"last_event_summary":{"type":"string"}},"required":["id","reference","revision","title","service","regions","severity","status","issue_type","impact_summary","team_id","created_at","created_by","archived_at"]};
const schema9 = {"type":"object","properties":{"digest":{"type":"string","pattern":"^sha256:[0-9a-f]{64}$"},"bytes":{"type":"integer","minimum":1,"maximum":9007199254740991}},"required":["digest","bytes"]};
const pattern5 = new RegExp("^sha256:[0-9a-f]{64}$", "u");

function validate24(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.digest === undefined) && (missing0 = "digest")) || ((data.bytes === undefined) && (missing0 = "bytes"))){
validate24.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.digest !== undefined){
let data0 = data.digest;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(!pattern5.test(data0)){
validate24.errors = [{instancePath:instancePath+"/digest",schemaPath:"#/properties/digest/pattern",keyword:"pattern",params:{pattern: "^sha256:[0-9a-f]{64}$"}}];
return false;
}
}
else {
validate24.errors = [{instancePath:instancePath+"/digest",schemaPath:"#/properties/digest/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.bytes !== undefined){
let data1 = data.bytes;
const _errs3 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate24.errors = [{instancePath:instancePath+"/bytes",schemaPath:"#/properties/bytes/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate24.errors = [{instancePath:instancePath+"/bytes",schemaPath:"#/properties/bytes/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate24.errors = [{instancePath:instancePath+"/bytes",schemaPath:"#/properties/bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate24.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate24.errors = vErrors;
return errors === 0;
}

const schema10 = {"type":"object","additionalProperties":{}};

function validate27(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
}
else {
validate27.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate27.errors = vErrors;
return errors === 0;
}


function validate23(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.reference === undefined) && (missing0 = "reference"))) || ((data.revision === undefined) && (missing0 = "revision"))) || ((data.title === undefined) && (missing0 = "title"))) || ((data.service === undefined) && (missing0 = "service"))) || ((data.regions === undefined) && (missing0 = "regions"))) || ((data.severity === undefined) && (missing0 = "severity"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.issue_type === undefined) && (missing0 = "issue_type"))) || ((data.impact_summary === undefined) && (missing0 = "impact_summary"))) || ((data.team_id === undefined) && (missing0 = "team_id"))) || ((data.created_at === undefined) && (missing0 = "created_at"))) || ((data.created_by === undefined) && (missing0 = "created_by"))) || ((data.archived_at === undefined) && (missing0 = "archived_at"))){
validate23.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
let data0 = data.id;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate23.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate23.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate23.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reference !== undefined){
const _errs3 = errors;
if(typeof data.reference !== "string"){
validate23.errors = [{instancePath:instancePath+"/reference",schemaPath:"#/properties/reference/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.revision !== undefined){
let data2 = data.revision;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate23.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate23.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate23.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs7 = errors;
if(typeof data.title !== "string"){
validate23.errors = [{instancePath:instancePath+"/title",schemaPath:"#/properties/title/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service !== undefined){
const _errs9 = errors;
if(typeof data.service !== "string"){
validate23.errors = [{instancePath:instancePath+"/service",schemaPath:"#/properties/service/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.regions !== undefined){
let data5 = data.regions;
const _errs11 = errors;
if(errors === _errs11){
if(Array.isArray(data5)){
var valid1 = true;
const len0 = data5.length;
for(let i0=0; i0<len0; i0++){
const _errs13 = errors;
if(typeof data5[i0] !== "string"){
validate23.errors = [{instancePath:instancePath+"/regions/" + i0,schemaPath:"#/properties/regions/items/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
if(!valid1){
break;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/regions",schemaPath:"#/properties/regions/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.severity !== undefined){
const _errs15 = errors;
if(typeof data.severity !== "string"){
validate23.errors = [{instancePath:instancePath+"/severity",schemaPath:"#/properties/severity/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
const _errs17 = errors;
if(typeof data.status !== "string"){
validate23.errors = [{instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs17 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.issue_type !== undefined){
const _errs19 = errors;
if(typeof data.issue_type !== "string"){
validate23.errors = [{instancePath:instancePath+"/issue_type",schemaPath:"#/properties/issue_type/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs19 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.impact_summary !== undefined){
const _errs21 = errors;
if(typeof data.impact_summary !== "string"){
validate23.errors = [{instancePath:instancePath+"/impact_summary",schemaPath:"#/properties/impact_summary/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.team_id !== undefined){
let data11 = data.team_id;
const _errs23 = errors;
const _errs24 = errors;
let valid2 = false;
const _errs25 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
const err0 = {instancePath:instancePath+"/team_id",schemaPath:"#/properties/team_id/anyOf/0/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(errors === _errs25){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 9007199254740991 || isNaN(data11)){
const err1 = {instancePath:instancePath+"/team_id",schemaPath:"#/properties/team_id/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data11 < 1 || isNaN(data11)){
const err2 = {instancePath:instancePath+"/team_id",schemaPath:"#/properties/team_id/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
}
var _valid0 = _errs25 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs27 = errors;
if(data11 !== null){
const err3 = {instancePath:instancePath+"/team_id",schemaPath:"#/properties/team_id/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs27 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err4 = {instancePath:instancePath+"/team_id",schemaPath:"#/properties/team_id/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs24;
if(vErrors !== null){
if(_errs24){
vErrors.length = _errs24;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_at !== undefined){
let data12 = data.created_at;
const _errs29 = errors;
if(errors === _errs29){
if(typeof data12 === "string"){
if(!pattern1.test(data12)){
validate23.errors = [{instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}}];
return false;
}
}
else {
validate23.errors = [{instancePath:instancePath+"/created_at",schemaPath:"#/properties/created_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs29 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_by !== undefined){
const _errs31 = errors;
if(typeof data.created_by !== "string"){
validate23.errors = [{instancePath:instancePath+"/created_by",schemaPath:"#/properties/created_by/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs31 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.archived_at !== undefined){
let data14 = data.archived_at;
const _errs33 = errors;
const _errs34 = errors;
let valid3 = false;
const _errs35 = errors;
if(errors === _errs35){
if(typeof data14 === "string"){
if(!pattern1.test(data14)){
const err5 = {instancePath:instancePath+"/archived_at",schemaPath:"#/properties/archived_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/archived_at",schemaPath:"#/properties/archived_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid1 = _errs35 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs37 = errors;
if(data14 !== null){
const err7 = {instancePath:instancePath+"/archived_at",schemaPath:"#/properties/archived_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid1 = _errs37 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err8 = {instancePath:instancePath+"/archived_at",schemaPath:"#/properties/archived_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs34;
if(vErrors !== null){
if(_errs34){
vErrors.length = _errs34;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs33 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.archived_by !== undefined){
let data15 = data.archived_by;
const _errs39 = errors;
const _errs40 = errors;
let valid4 = false;
const _errs41 = errors;
if(!(((typeof data15 == "number") && (!(data15 % 1) && !isNaN(data15))) && (isFinite(data15)))){
const err9 = {instancePath:instancePath+"/archived_by",schemaPath:"#/properties/archived_by/anyOf/0/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
if(errors === _errs41){
if((typeof data15 == "number") && (isFinite(data15))){
if(data15 > 9007199254740991 || isNaN(data15)){
const err10 = {instancePath:instancePath+"/archived_by",schemaPath:"#/properties/archived_by/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
}
else {
if(data15 < 1 || isNaN(data15)){
const err11 = {instancePath:instancePath+"/archived_by",schemaPath:"#/properties/archived_by/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
}
}
}
var _valid2 = _errs41 === errors;
valid4 = valid4 || _valid2;
if(!valid4){
const _errs43 = errors;
if(data15 !== null){
const err12 = {instancePath:instancePath+"/archived_by",schemaPath:"#/properties/archived_by/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
}
var _valid2 = _errs43 === errors;
valid4 = valid4 || _valid2;
}
if(!valid4){
const err13 = {instancePath:instancePath+"/archived_by",schemaPath:"#/properties/archived_by/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs40;
if(vErrors !== null){
if(_errs40){
vErrors.length = _errs40;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs39 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status_changed_at !== undefined){
let data16 = data.status_changed_at;
const _errs45 = errors;
const _errs46 = errors;
let valid5 = false;
const _errs47 = errors;
if(errors === _errs47){
if(typeof data16 === "string"){
if(!pattern1.test(data16)){
const err14 = {instancePath:instancePath+"/status_changed_at",schemaPath:"#/properties/status_changed_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
else {
const err15 = {instancePath:instancePath+"/status_changed_at",schemaPath:"#/properties/status_changed_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
}
}
var _valid3 = _errs47 === errors;
valid5 = valid5 || _valid3;
if(!valid5){
const _errs49 = errors;
if(data16 !== null){
const err16 = {instancePath:instancePath+"/status_changed_at",schemaPath:"#/properties/status_changed_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
var _valid3 = _errs49 === errors;
valid5 = valid5 || _valid3;
}
if(!valid5){
const err17 = {instancePath:instancePath+"/status_changed_at",schemaPath:"#/properties/status_changed_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs46;
if(vErrors !== null){
if(_errs46){
vErrors.length = _errs46;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs45 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.severity_mode !== undefined){
const _errs51 = errors;
if(typeof data.severity_mode !== "string"){
validate23.errors = [{instancePath:instancePath+"/severity_mode",schemaPath:"#/properties/severity_mode/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs51 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.slack_channel_id !== undefined){
const _errs53 = errors;
if(typeof data.slack_channel_id !== "string"){
validate23.errors = [{instancePath:instancePath+"/slack_channel_id",schemaPath:"#/properties/slack_channel_id/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs53 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.meet_url !== undefined){
let data19 = data.meet_url;
const _errs55 = errors;
const _errs56 = errors;
let valid6 = false;
const _errs57 = errors;
if(typeof data19 !== "string"){
const err18 = {instancePath:instancePath+"/meet_url",schemaPath:"#/properties/meet_url/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
var _valid4 = _errs57 === errors;
valid6 = valid6 || _valid4;
if(!valid6){
const _errs59 = errors;
if(!(validate24(data19, {instancePath:instancePath+"/meet_url",parentData:data,parentDataProperty:"meet_url",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid4 = _errs59 === errors;
valid6 = valid6 || _valid4;
}
if(!valid6){
const err19 = {instancePath:instancePath+"/meet_url",schemaPath:"#/properties/meet_url/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs56;
if(vErrors !== null){
if(_errs56){
vErrors.length = _errs56;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs55 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.doc_url !== undefined){
let data20 = data.doc_url;
const _errs60 = errors;
const _errs61 = errors;
let valid7 = false;
const _errs62 = errors;
if(typeof data20 !== "string"){
const err20 = {instancePath:instancePath+"/doc_url",schemaPath:"#/properties/doc_url/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
var _valid5 = _errs62 === errors;
valid7 = valid7 || _valid5;
if(!valid7){
const _errs64 = errors;
if(!(validate24(data20, {instancePath:instancePath+"/doc_url",parentData:data,parentDataProperty:"doc_url",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid5 = _errs64 === errors;
valid7 = valid7 || _valid5;
}
if(!valid7){
const err21 = {instancePath:instancePath+"/doc_url",schemaPath:"#/properties/doc_url/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs61;
if(vErrors !== null){
if(_errs61){
vErrors.length = _errs61;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs60 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.customer_impact_status !== undefined){
const _errs65 = errors;
if(typeof data.customer_impact_status !== "string"){
validate23.errors = [{instancePath:instancePath+"/customer_impact_status",schemaPath:"#/properties/customer_impact_status/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs65 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.impact_started_at !== undefined){
let data22 = data.impact_started_at;
const _errs67 = errors;
const _errs68 = errors;
let valid8 = false;
const _errs69 = errors;
if(errors === _errs69){
if(typeof data22 === "string"){
if(!pattern1.test(data22)){
const err22 = {instancePath:instancePath+"/impact_started_at",schemaPath:"#/properties/impact_started_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/impact_started_at",schemaPath:"#/properties/impact_started_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
var _valid6 = _errs69 === errors;
valid8 = valid8 || _valid6;
if(!valid8){
const _errs71 = errors;
if(data22 !== null){
const err24 = {instancePath:instancePath+"/impact_started_at",schemaPath:"#/properties/impact_started_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid6 = _errs71 === errors;
valid8 = valid8 || _valid6;
}
if(!valid8){
const err25 = {instancePath:instancePath+"/impact_started_at",schemaPath:"#/properties/impact_started_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs68;
if(vErrors !== null){
if(_errs68){
vErrors.length = _errs68;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs67 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.first_reported_at !== undefined){
let data23 = data.first_reported_at;
const _errs73 = errors;
const _errs74 = errors;
let valid9 = false;
const _errs75 = errors;
if(errors === _errs75){
if(typeof data23 === "string"){
if(!pattern1.test(data23)){
const err26 = {instancePath:instancePath+"/first_reported_at",schemaPath:"#/properties/first_reported_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
else {
const err27 = {instancePath:instancePath+"/first_reported_at",schemaPath:"#/properties/first_reported_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
}
}
var _valid7 = _errs75 === errors;
valid9 = valid9 || _valid7;
if(!valid9){
const _errs77 = errors;
if(data23 !== null){
const err28 = {instancePath:instancePath+"/first_reported_at",schemaPath:"#/properties/first_reported_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err28];
}
else {
vErrors.push(err28);
}
errors++;
}
var _valid7 = _errs77 === errors;
valid9 = valid9 || _valid7;
}
if(!valid9){
const err29 = {instancePath:instancePath+"/first_reported_at",schemaPath:"#/properties/first_reported_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err29];
}
else {
vErrors.push(err29);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs74;
if(vErrors !== null){
if(_errs74){
vErrors.length = _errs74;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs73 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.first_responded_at !== undefined){
let data24 = data.first_responded_at;
const _errs79 = errors;
const _errs80 = errors;
let valid10 = false;
const _errs81 = errors;
if(errors === _errs81){
if(typeof data24 === "string"){
if(!pattern1.test(data24)){
const err30 = {instancePath:instancePath+"/first_responded_at",schemaPath:"#/properties/first_responded_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err30];
}
else {
vErrors.push(err30);
}
errors++;
}
}
else {
const err31 = {instancePath:instancePath+"/first_responded_at",schemaPath:"#/properties/first_responded_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err31];
}
else {
vErrors.push(err31);
}
errors++;
}
}
var _valid8 = _errs81 === errors;
valid10 = valid10 || _valid8;
if(!valid10){
const _errs83 = errors;
if(data24 !== null){
const err32 = {instancePath:instancePath+"/first_responded_at",schemaPath:"#/properties/first_responded_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err32];
}
else {
vErrors.push(err32);
}
errors++;
}
var _valid8 = _errs83 === errors;
valid10 = valid10 || _valid8;
}
if(!valid10){
const err33 = {instancePath:instancePath+"/first_responded_at",schemaPath:"#/properties/first_responded_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err33];
}
else {
vErrors.push(err33);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs80;
if(vErrors !== null){
if(_errs80){
vErrors.length = _errs80;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs79 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.recovered_at !== undefined){
let data25 = data.recovered_at;
const _errs85 = errors;
const _errs86 = errors;
let valid11 = false;
const _errs87 = errors;
if(errors === _errs87){
if(typeof data25 === "string"){
if(!pattern1.test(data25)){
const err34 = {instancePath:instancePath+"/recovered_at",schemaPath:"#/properties/recovered_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err34];
}
else {
vErrors.push(err34);
}
errors++;
}
}
else {
const err35 = {instancePath:instancePath+"/recovered_at",schemaPath:"#/properties/recovered_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err35];
}
else {
vErrors.push(err35);
}
errors++;
}
}
var _valid9 = _errs87 === errors;
valid11 = valid11 || _valid9;
if(!valid11){
const _errs89 = errors;
if(data25 !== null){
const err36 = {instancePath:instancePath+"/recovered_at",schemaPath:"#/properties/recovered_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err36];
}
else {
vErrors.push(err36);
}
errors++;
}
var _valid9 = _errs89 === errors;
valid11 = valid11 || _valid9;
}
if(!valid11){
const err37 = {instancePath:instancePath+"/recovered_at",schemaPath:"#/properties/recovered_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err37];
}
else {
vErrors.push(err37);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs86;
if(vErrors !== null){
if(_errs86){
vErrors.length = _errs86;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs85 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.incident_manager !== undefined){
const _errs91 = errors;
if(typeof data.incident_manager !== "string"){
validate23.errors = [{instancePath:instancePath+"/incident_manager",schemaPath:"#/properties/incident_manager/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs91 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.incident_responders !== undefined){
let data27 = data.incident_responders;
const _errs93 = errors;
if(errors === _errs93){
if(Array.isArray(data27)){
var valid12 = true;
const len1 = data27.length;
for(let i1=0; i1<len1; i1++){
const _errs95 = errors;
if(typeof data27[i1] !== "string"){
validate23.errors = [{instancePath:instancePath+"/incident_responders/" + i1,schemaPath:"#/properties/incident_responders/items/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid12 = _errs95 === errors;
if(!valid12){
break;
}
}
}
else {
validate23.errors = [{instancePath:instancePath+"/incident_responders",schemaPath:"#/properties/incident_responders/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs93 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.custom_fields !== undefined){
const _errs97 = errors;
if(!(validate27(data.custom_fields, {instancePath:instancePath+"/custom_fields",parentData:data,parentDataProperty:"custom_fields",rootData}))){
vErrors = vErrors === null ? validate27.errors : vErrors.concat(validate27.errors);
errors = vErrors.length;
}
var valid0 = _errs97 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.event_count !== undefined){
let data30 = data.event_count;
const _errs98 = errors;
if(!(((typeof data30 == "number") && (!(data30 % 1) && !isNaN(data30))) && (isFinite(data30)))){
validate23.errors = [{instancePath:instancePath+"/event_count",schemaPath:"#/properties/event_count/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs98){
if((typeof data30 == "number") && (isFinite(data30))){
if(data30 > 9007199254740991 || isNaN(data30)){
validate23.errors = [{instancePath:instancePath+"/event_count",schemaPath:"#/properties/event_count/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data30 < 0 || isNaN(data30)){
validate23.errors = [{instancePath:instancePath+"/event_count",schemaPath:"#/properties/event_count/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}}];
return false;
}
}
}
}
var valid0 = _errs98 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.last_event_at !== undefined){
let data31 = data.last_event_at;
const _errs100 = errors;
const _errs101 = errors;
let valid13 = false;
const _errs102 = errors;
if(errors === _errs102){
if(typeof data31 === "string"){
if(!pattern1.test(data31)){
const err38 = {instancePath:instancePath+"/last_event_at",schemaPath:"#/properties/last_event_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err38];
}
else {
vErrors.push(err38);
}
errors++;
}
}
else {
const err39 = {instancePath:instancePath+"/last_event_at",schemaPath:"#/properties/last_event_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err39];
}
else {
vErrors.push(err39);
}
errors++;
}
}
var _valid10 = _errs102 === errors;
valid13 = valid13 || _valid10;
if(!valid13){
const _errs104 = errors;
if(data31 !== null){
const err40 = {instancePath:instancePath+"/last_event_at",schemaPath:"#/properties/last_event_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err40];
}
else {
vErrors.push(err40);
}
errors++;
}
var _valid10 = _errs104 === errors;
valid13 = valid13 || _valid10;
}
if(!valid13){
const err41 = {instancePath:instancePath+"/last_event_at",schemaPath:"#/properties/last_event_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err41];
}
else {
vErrors.push(err41);
}
errors++;
validate23.errors = vErrors;
return false;
}
else {
errors = _errs101;
if(vErrors !== null){
if(_errs101){
vErrors.length = _errs101;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs100 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.last_event_summary !== undefined){
const _errs106 = errors;
if(typeof data.last_event_summary !== "string"){
validate23.errors = [{instancePath:instancePath+"/last_event_summary",schemaPath:"#/properties/last_event_summary/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs106 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate23.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate23.errors = vErrors;
return errors === 0;
}


function validate22(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.incident === undefined) && (missing0 = "incident")){
validate22.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
if(!(validate23(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
}
}
}
else {
validate22.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate22.errors = vErrors;
return errors === 0;
}

export const validate_incident_updated = validate30;
const schema11 = {"type":"object","properties":{"incident":{"$ref":"shared0"},"changes":{"type":"array","items":{"$ref":"shared3"}}},"required":["incident","changes"]};
const schema12 = {"type":"object","properties":{"field":{"type":"string"},"from":{},"to":{}},"required":["field","from","to"]};

function validate32(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.field === undefined) && (missing0 = "field")) || ((data.from === undefined) && (missing0 = "from"))) || ((data.to === undefined) && (missing0 = "to"))){
validate32.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.field !== undefined){
if(typeof data.field !== "string"){
validate32.errors = [{instancePath:instancePath+"/field",schemaPath:"#/properties/field/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
}
}
else {
validate32.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate32.errors = vErrors;
return errors === 0;
}


function validate30(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.incident === undefined) && (missing0 = "incident")) || ((data.changes === undefined) && (missing0 = "changes"))){
validate30.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate23(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.changes !== undefined){
let data1 = data.changes;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs4 = errors;
if(!(validate32(data1[i0], {instancePath:instancePath+"/changes/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
else {
validate30.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate30.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate30.errors = vErrors;
return errors === 0;
}

export const validate_incident_archived = validate34;
const schema13 = {"type":"object","properties":{"incident":{"$ref":"shared0"},"changes":{"type":"array","items":{"$ref":"shared3"}}},"required":["incident"]};

function validate34(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.incident === undefined) && (missing0 = "incident")){
validate34.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate23(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.changes !== undefined){
let data1 = data.changes;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs4 = errors;
if(!(validate32(data1[i0], {instancePath:instancePath+"/changes/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
else {
validate34.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate34.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate34.errors = vErrors;
return errors === 0;
}

export const validate_incident_restored = validate37;
const schema14 = {"type":"object","properties":{"incident":{"$ref":"shared0"},"changes":{"type":"array","items":{"$ref":"shared3"}}},"required":["incident"]};

function validate37(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.incident === undefined) && (missing0 = "incident")){
validate37.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate23(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate23.errors : vErrors.concat(validate23.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.changes !== undefined){
let data1 = data.changes;
const _errs2 = errors;
if(errors === _errs2){
if(Array.isArray(data1)){
var valid1 = true;
const len0 = data1.length;
for(let i0=0; i0<len0; i0++){
const _errs4 = errors;
if(!(validate32(data1[i0], {instancePath:instancePath+"/changes/" + i0,parentData:data1,parentDataProperty:i0,rootData}))){
vErrors = vErrors === null ? validate32.errors : vErrors.concat(validate32.errors);
errors = vErrors.length;
}
var valid1 = _errs4 === errors;
if(!valid1){
break;
}
}
}
else {
validate37.errors = [{instancePath:instancePath+"/changes",schemaPath:"#/properties/changes/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate37.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate37.errors = vErrors;
return errors === 0;
}

export const validate_timeline_event_created = validate40;
const schema15 = {"type":"object","properties":{"incident":{"$ref":"shared4"},"timeline_event":{"$ref":"shared5"}},"required":["incident","timeline_event"]};
const schema16 = {"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"reference":{"type":"string"},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991}},"required":["id","reference","revision"]};

function validate41(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((data.id === undefined) && (missing0 = "id")) || ((data.reference === undefined) && (missing0 = "reference"))) || ((data.revision === undefined) && (missing0 = "revision"))){
validate41.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
let data0 = data.id;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate41.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate41.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate41.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.reference !== undefined){
const _errs3 = errors;
if(typeof data.reference !== "string"){
validate41.errors = [{instancePath:instancePath+"/reference",schemaPath:"#/properties/reference/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.revision !== undefined){
let data2 = data.revision;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate41.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate41.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate41.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate41.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate41.errors = vErrors;
return errors === 0;
}

const schema17 = {"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991},"started_at":{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},"ended_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"is_ongoing":{"type":"boolean"},"group_id":{"anyOf":[{"type":"integer","minimum":1,"maximum":9007199254740991},{"type":"null"}]},"is_key":{"type":"boolean"},"source":{"type":"string"},"source_ref":{"anyOf":[{"type":"string"},{"$ref":"shared1"}]},"type":{"type":"string"},"icon":{"type":"string"},"title":{"type":"string"},"body":{"anyOf":[{"type":"string"},{"$ref":"shared1"}]},"collaboration_generation":{"type":"integer","minimum":1,"maximum":9007199254740991},"tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"$ref":"shared1"}]},"ai_context":{"anyOf":[{"type":"string"},{"$ref":"shared1"}]},"created_by":{"type":"string"},"source_window_started_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"source_window_ended_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]},"evidence_links":{"anyOf":[{"type":"array","items":{"$ref":"shared6"}},{"$ref":"shared1"}]}},"required":["id","revision","started_at","ended_at","is_ongoing","group_id","is_key","source","source_ref","type","icon","title","body","collaboration_generation","tags","ai_context","created_by","source_window_started_at","source_window_ended_at","evidence_links"]};
const schema18 = {"type":"object","properties":{"source":{"type":"string"},"url":{"type":"string"},"label":{"type":"string"},"summary":{"type":"string"},"artifact_id":{"type":"string"},"artifact_digest":{"type":"string"},"result_bytes":{"type":"integer","minimum":0,"maximum":9007199254740991},"truncated":{"type":"boolean"}},"required":["source","url"]};

function validate48(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.source === undefined) && (missing0 = "source")) || ((data.url === undefined) && (missing0 = "url"))){
validate48.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.source !== undefined){
const _errs1 = errors;
if(typeof data.source !== "string"){
validate48.errors = [{instancePath:instancePath+"/source",schemaPath:"#/properties/source/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.url !== undefined){
const _errs3 = errors;
if(typeof data.url !== "string"){
validate48.errors = [{instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.label !== undefined){
const _errs5 = errors;
if(typeof data.label !== "string"){
validate48.errors = [{instancePath:instancePath+"/label",schemaPath:"#/properties/label/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.summary !== undefined){
const _errs7 = errors;
if(typeof data.summary !== "string"){
validate48.errors = [{instancePath:instancePath+"/summary",schemaPath:"#/properties/summary/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.artifact_id !== undefined){
const _errs9 = errors;
if(typeof data.artifact_id !== "string"){
validate48.errors = [{instancePath:instancePath+"/artifact_id",schemaPath:"#/properties/artifact_id/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.artifact_digest !== undefined){
const _errs11 = errors;
if(typeof data.artifact_digest !== "string"){
validate48.errors = [{instancePath:instancePath+"/artifact_digest",schemaPath:"#/properties/artifact_digest/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.result_bytes !== undefined){
let data6 = data.result_bytes;
const _errs13 = errors;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
validate48.errors = [{instancePath:instancePath+"/result_bytes",schemaPath:"#/properties/result_bytes/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs13){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 9007199254740991 || isNaN(data6)){
validate48.errors = [{instancePath:instancePath+"/result_bytes",schemaPath:"#/properties/result_bytes/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data6 < 0 || isNaN(data6)){
validate48.errors = [{instancePath:instancePath+"/result_bytes",schemaPath:"#/properties/result_bytes/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}}];
return false;
}
}
}
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.truncated !== undefined){
const _errs15 = errors;
if(typeof data.truncated !== "boolean"){
validate48.errors = [{instancePath:instancePath+"/truncated",schemaPath:"#/properties/truncated/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
else {
validate48.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate48.errors = vErrors;
return errors === 0;
}


function validate43(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((((((((((((((((((((data.id === undefined) && (missing0 = "id")) || ((data.revision === undefined) && (missing0 = "revision"))) || ((data.started_at === undefined) && (missing0 = "started_at"))) || ((data.ended_at === undefined) && (missing0 = "ended_at"))) || ((data.is_ongoing === undefined) && (missing0 = "is_ongoing"))) || ((data.group_id === undefined) && (missing0 = "group_id"))) || ((data.is_key === undefined) && (missing0 = "is_key"))) || ((data.source === undefined) && (missing0 = "source"))) || ((data.source_ref === undefined) && (missing0 = "source_ref"))) || ((data.type === undefined) && (missing0 = "type"))) || ((data.icon === undefined) && (missing0 = "icon"))) || ((data.title === undefined) && (missing0 = "title"))) || ((data.body === undefined) && (missing0 = "body"))) || ((data.collaboration_generation === undefined) && (missing0 = "collaboration_generation"))) || ((data.tags === undefined) && (missing0 = "tags"))) || ((data.ai_context === undefined) && (missing0 = "ai_context"))) || ((data.created_by === undefined) && (missing0 = "created_by"))) || ((data.source_window_started_at === undefined) && (missing0 = "source_window_started_at"))) || ((data.source_window_ended_at === undefined) && (missing0 = "source_window_ended_at"))) || ((data.evidence_links === undefined) && (missing0 = "evidence_links"))){
validate43.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.id !== undefined){
let data0 = data.id;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate43.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate43.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate43.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.revision !== undefined){
let data1 = data.revision;
const _errs3 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate43.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate43.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate43.errors = [{instancePath:instancePath+"/revision",schemaPath:"#/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_at !== undefined){
let data2 = data.started_at;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(!pattern1.test(data2)){
validate43.errors = [{instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}}];
return false;
}
}
else {
validate43.errors = [{instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ended_at !== undefined){
let data3 = data.ended_at;
const _errs7 = errors;
const _errs8 = errors;
let valid1 = false;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data3 === "string"){
if(!pattern1.test(data3)){
const err0 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
var _valid0 = _errs9 === errors;
valid1 = valid1 || _valid0;
if(!valid1){
const _errs11 = errors;
if(data3 !== null){
const err2 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs11 === errors;
valid1 = valid1 || _valid0;
}
if(!valid1){
const err3 = {instancePath:instancePath+"/ended_at",schemaPath:"#/properties/ended_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.is_ongoing !== undefined){
const _errs13 = errors;
if(typeof data.is_ongoing !== "boolean"){
validate43.errors = [{instancePath:instancePath+"/is_ongoing",schemaPath:"#/properties/is_ongoing/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid0 = _errs13 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.group_id !== undefined){
let data5 = data.group_id;
const _errs15 = errors;
const _errs16 = errors;
let valid2 = false;
const _errs17 = errors;
if(!(((typeof data5 == "number") && (!(data5 % 1) && !isNaN(data5))) && (isFinite(data5)))){
const err4 = {instancePath:instancePath+"/group_id",schemaPath:"#/properties/group_id/anyOf/0/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
if(errors === _errs17){
if((typeof data5 == "number") && (isFinite(data5))){
if(data5 > 9007199254740991 || isNaN(data5)){
const err5 = {instancePath:instancePath+"/group_id",schemaPath:"#/properties/group_id/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
else {
if(data5 < 1 || isNaN(data5)){
const err6 = {instancePath:instancePath+"/group_id",schemaPath:"#/properties/group_id/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
}
}
var _valid1 = _errs17 === errors;
valid2 = valid2 || _valid1;
if(!valid2){
const _errs19 = errors;
if(data5 !== null){
const err7 = {instancePath:instancePath+"/group_id",schemaPath:"#/properties/group_id/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid1 = _errs19 === errors;
valid2 = valid2 || _valid1;
}
if(!valid2){
const err8 = {instancePath:instancePath+"/group_id",schemaPath:"#/properties/group_id/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.is_key !== undefined){
const _errs21 = errors;
if(typeof data.is_key !== "boolean"){
validate43.errors = [{instancePath:instancePath+"/is_key",schemaPath:"#/properties/is_key/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid0 = _errs21 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source !== undefined){
const _errs23 = errors;
if(typeof data.source !== "string"){
validate43.errors = [{instancePath:instancePath+"/source",schemaPath:"#/properties/source/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs23 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source_ref !== undefined){
let data8 = data.source_ref;
const _errs25 = errors;
const _errs26 = errors;
let valid3 = false;
const _errs27 = errors;
if(typeof data8 !== "string"){
const err9 = {instancePath:instancePath+"/source_ref",schemaPath:"#/properties/source_ref/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
var _valid2 = _errs27 === errors;
valid3 = valid3 || _valid2;
if(!valid3){
const _errs29 = errors;
if(!(validate24(data8, {instancePath:instancePath+"/source_ref",parentData:data,parentDataProperty:"source_ref",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid2 = _errs29 === errors;
valid3 = valid3 || _valid2;
}
if(!valid3){
const err10 = {instancePath:instancePath+"/source_ref",schemaPath:"#/properties/source_ref/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs26;
if(vErrors !== null){
if(_errs26){
vErrors.length = _errs26;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs25 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.type !== undefined){
const _errs30 = errors;
if(typeof data.type !== "string"){
validate43.errors = [{instancePath:instancePath+"/type",schemaPath:"#/properties/type/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs30 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.icon !== undefined){
const _errs32 = errors;
if(typeof data.icon !== "string"){
validate43.errors = [{instancePath:instancePath+"/icon",schemaPath:"#/properties/icon/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs32 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.title !== undefined){
const _errs34 = errors;
if(typeof data.title !== "string"){
validate43.errors = [{instancePath:instancePath+"/title",schemaPath:"#/properties/title/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs34 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.body !== undefined){
let data12 = data.body;
const _errs36 = errors;
const _errs37 = errors;
let valid4 = false;
const _errs38 = errors;
if(typeof data12 !== "string"){
const err11 = {instancePath:instancePath+"/body",schemaPath:"#/properties/body/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err11];
}
else {
vErrors.push(err11);
}
errors++;
}
var _valid3 = _errs38 === errors;
valid4 = valid4 || _valid3;
if(!valid4){
const _errs40 = errors;
if(!(validate24(data12, {instancePath:instancePath+"/body",parentData:data,parentDataProperty:"body",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid3 = _errs40 === errors;
valid4 = valid4 || _valid3;
}
if(!valid4){
const err12 = {instancePath:instancePath+"/body",schemaPath:"#/properties/body/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err12];
}
else {
vErrors.push(err12);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs37;
if(vErrors !== null){
if(_errs37){
vErrors.length = _errs37;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs36 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.collaboration_generation !== undefined){
let data13 = data.collaboration_generation;
const _errs41 = errors;
if(!(((typeof data13 == "number") && (!(data13 % 1) && !isNaN(data13))) && (isFinite(data13)))){
validate43.errors = [{instancePath:instancePath+"/collaboration_generation",schemaPath:"#/properties/collaboration_generation/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs41){
if((typeof data13 == "number") && (isFinite(data13))){
if(data13 > 9007199254740991 || isNaN(data13)){
validate43.errors = [{instancePath:instancePath+"/collaboration_generation",schemaPath:"#/properties/collaboration_generation/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data13 < 1 || isNaN(data13)){
validate43.errors = [{instancePath:instancePath+"/collaboration_generation",schemaPath:"#/properties/collaboration_generation/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs41 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.tags !== undefined){
let data14 = data.tags;
const _errs43 = errors;
const _errs44 = errors;
let valid5 = false;
const _errs45 = errors;
if(errors === _errs45){
if(Array.isArray(data14)){
var valid6 = true;
const len0 = data14.length;
for(let i0=0; i0<len0; i0++){
const _errs47 = errors;
if(typeof data14[i0] !== "string"){
const err13 = {instancePath:instancePath+"/tags/" + i0,schemaPath:"#/properties/tags/anyOf/0/items/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err13];
}
else {
vErrors.push(err13);
}
errors++;
}
var valid6 = _errs47 === errors;
if(!valid6){
break;
}
}
}
else {
const err14 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/anyOf/0/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err14];
}
else {
vErrors.push(err14);
}
errors++;
}
}
var _valid4 = _errs45 === errors;
valid5 = valid5 || _valid4;
if(!valid5){
const _errs49 = errors;
if(!(validate24(data14, {instancePath:instancePath+"/tags",parentData:data,parentDataProperty:"tags",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid4 = _errs49 === errors;
valid5 = valid5 || _valid4;
}
if(!valid5){
const err15 = {instancePath:instancePath+"/tags",schemaPath:"#/properties/tags/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err15];
}
else {
vErrors.push(err15);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs44;
if(vErrors !== null){
if(_errs44){
vErrors.length = _errs44;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs43 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.ai_context !== undefined){
let data16 = data.ai_context;
const _errs50 = errors;
const _errs51 = errors;
let valid7 = false;
const _errs52 = errors;
if(typeof data16 !== "string"){
const err16 = {instancePath:instancePath+"/ai_context",schemaPath:"#/properties/ai_context/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err16];
}
else {
vErrors.push(err16);
}
errors++;
}
var _valid5 = _errs52 === errors;
valid7 = valid7 || _valid5;
if(!valid7){
const _errs54 = errors;
if(!(validate24(data16, {instancePath:instancePath+"/ai_context",parentData:data,parentDataProperty:"ai_context",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid5 = _errs54 === errors;
valid7 = valid7 || _valid5;
}
if(!valid7){
const err17 = {instancePath:instancePath+"/ai_context",schemaPath:"#/properties/ai_context/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err17];
}
else {
vErrors.push(err17);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs51;
if(vErrors !== null){
if(_errs51){
vErrors.length = _errs51;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs50 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.created_by !== undefined){
const _errs55 = errors;
if(typeof data.created_by !== "string"){
validate43.errors = [{instancePath:instancePath+"/created_by",schemaPath:"#/properties/created_by/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs55 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source_window_started_at !== undefined){
let data18 = data.source_window_started_at;
const _errs57 = errors;
const _errs58 = errors;
let valid8 = false;
const _errs59 = errors;
if(errors === _errs59){
if(typeof data18 === "string"){
if(!pattern1.test(data18)){
const err18 = {instancePath:instancePath+"/source_window_started_at",schemaPath:"#/properties/source_window_started_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err18];
}
else {
vErrors.push(err18);
}
errors++;
}
}
else {
const err19 = {instancePath:instancePath+"/source_window_started_at",schemaPath:"#/properties/source_window_started_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err19];
}
else {
vErrors.push(err19);
}
errors++;
}
}
var _valid6 = _errs59 === errors;
valid8 = valid8 || _valid6;
if(!valid8){
const _errs61 = errors;
if(data18 !== null){
const err20 = {instancePath:instancePath+"/source_window_started_at",schemaPath:"#/properties/source_window_started_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err20];
}
else {
vErrors.push(err20);
}
errors++;
}
var _valid6 = _errs61 === errors;
valid8 = valid8 || _valid6;
}
if(!valid8){
const err21 = {instancePath:instancePath+"/source_window_started_at",schemaPath:"#/properties/source_window_started_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err21];
}
else {
vErrors.push(err21);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs58;
if(vErrors !== null){
if(_errs58){
vErrors.length = _errs58;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs57 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.source_window_ended_at !== undefined){
let data19 = data.source_window_ended_at;
const _errs63 = errors;
const _errs64 = errors;
let valid9 = false;
const _errs65 = errors;
if(errors === _errs65){
if(typeof data19 === "string"){
if(!pattern1.test(data19)){
const err22 = {instancePath:instancePath+"/source_window_ended_at",schemaPath:"#/properties/source_window_ended_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err22];
}
else {
vErrors.push(err22);
}
errors++;
}
}
else {
const err23 = {instancePath:instancePath+"/source_window_ended_at",schemaPath:"#/properties/source_window_ended_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err23];
}
else {
vErrors.push(err23);
}
errors++;
}
}
var _valid7 = _errs65 === errors;
valid9 = valid9 || _valid7;
if(!valid9){
const _errs67 = errors;
if(data19 !== null){
const err24 = {instancePath:instancePath+"/source_window_ended_at",schemaPath:"#/properties/source_window_ended_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err24];
}
else {
vErrors.push(err24);
}
errors++;
}
var _valid7 = _errs67 === errors;
valid9 = valid9 || _valid7;
}
if(!valid9){
const err25 = {instancePath:instancePath+"/source_window_ended_at",schemaPath:"#/properties/source_window_ended_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err25];
}
else {
vErrors.push(err25);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs64;
if(vErrors !== null){
if(_errs64){
vErrors.length = _errs64;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs63 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.evidence_links !== undefined){
let data20 = data.evidence_links;
const _errs69 = errors;
const _errs70 = errors;
let valid10 = false;
const _errs71 = errors;
if(errors === _errs71){
if(Array.isArray(data20)){
var valid11 = true;
const len1 = data20.length;
for(let i1=0; i1<len1; i1++){
const _errs73 = errors;
if(!(validate48(data20[i1], {instancePath:instancePath+"/evidence_links/" + i1,parentData:data20,parentDataProperty:i1,rootData}))){
vErrors = vErrors === null ? validate48.errors : vErrors.concat(validate48.errors);
errors = vErrors.length;
}
var valid11 = _errs73 === errors;
if(!valid11){
break;
}
}
}
else {
const err26 = {instancePath:instancePath+"/evidence_links",schemaPath:"#/properties/evidence_links/anyOf/0/type",keyword:"type",params:{type: "array"}};
if(vErrors === null){
vErrors = [err26];
}
else {
vErrors.push(err26);
}
errors++;
}
}
var _valid8 = _errs71 === errors;
valid10 = valid10 || _valid8;
if(!valid10){
const _errs74 = errors;
if(!(validate24(data20, {instancePath:instancePath+"/evidence_links",parentData:data,parentDataProperty:"evidence_links",rootData}))){
vErrors = vErrors === null ? validate24.errors : vErrors.concat(validate24.errors);
errors = vErrors.length;
}
var _valid8 = _errs74 === errors;
valid10 = valid10 || _valid8;
}
if(!valid10){
const err27 = {instancePath:instancePath+"/evidence_links",schemaPath:"#/properties/evidence_links/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err27];
}
else {
vErrors.push(err27);
}
errors++;
validate43.errors = vErrors;
return false;
}
else {
errors = _errs70;
if(vErrors !== null){
if(_errs70){
vErrors.length = _errs70;
}
else {
vErrors = null;
}
}
}
var valid0 = _errs69 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate43.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate43.errors = vErrors;
return errors === 0;
}


function validate40(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.incident === undefined) && (missing0 = "incident")) || ((data.timeline_event === undefined) && (missing0 = "timeline_event"))){
validate40.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate41(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate41.errors : vErrors.concat(validate41.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeline_event !== undefined){
const _errs2 = errors;
if(!(validate43(data.timeline_event, {instancePath:instancePath+"/timeline_event",parentData:data,parentDataProperty:"timeline_event",rootData}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate40.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate40.errors = vErrors;
return errors === 0;
}

export const validate_timeline_event_updated = validate52;
const schema19 = {"type":"object","properties":{"incident":{"$ref":"shared4"},"timeline_event":{"$ref":"shared5"}},"required":["incident","timeline_event"]};

function validate52(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.incident === undefined) && (missing0 = "incident")) || ((data.timeline_event === undefined) && (missing0 = "timeline_event"))){
validate52.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate41(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate41.errors : vErrors.concat(validate41.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeline_event !== undefined){
const _errs2 = errors;
if(!(validate43(data.timeline_event, {instancePath:instancePath+"/timeline_event",parentData:data,parentDataProperty:"timeline_event",rootData}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate52.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate52.errors = vErrors;
return errors === 0;
}

export const validate_timeline_event_deleted = validate55;
const schema20 = {"type":"object","properties":{"incident":{"$ref":"shared4"},"timeline_event":{"$ref":"shared5"}},"required":["incident","timeline_event"]};

function validate55(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.incident === undefined) && (missing0 = "incident")) || ((data.timeline_event === undefined) && (missing0 = "timeline_event"))){
validate55.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.incident !== undefined){
const _errs1 = errors;
if(!(validate41(data.incident, {instancePath:instancePath+"/incident",parentData:data,parentDataProperty:"incident",rootData}))){
vErrors = vErrors === null ? validate41.errors : vErrors.concat(validate41.errors);
errors = vErrors.length;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.timeline_event !== undefined){
const _errs2 = errors;
if(!(validate43(data.timeline_event, {instancePath:instancePath+"/timeline_event",parentData:data,parentDataProperty:"timeline_event",rootData}))){
vErrors = vErrors === null ? validate43.errors : vErrors.concat(validate43.errors);
errors = vErrors.length;
}
var valid0 = _errs2 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate55.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate55.errors = vErrors;
return errors === 0;
}

export const validate_service_changed = validate58;
const schema21 = {"type":"object","properties":{"version":{"type":"integer","minimum":1,"maximum":9007199254740991},"service":{"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991},"name":{"type":"string"},"slug":{"type":"string"},"tier":{"type":"string"},"owner_team_id":{"anyOf":[{"type":"integer","minimum":1,"maximum":9007199254740991},{"type":"null"}]},"archived_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]}},"required":["id","revision","name","slug","tier","owner_team_id","archived_at"]}},"required":["version","service"]};

function validate58(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.version === undefined) && (missing0 = "version")) || ((data.service === undefined) && (missing0 = "service"))){
validate58.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate58.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate58.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate58.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.service !== undefined){
let data1 = data.service;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing1;
if((((((((data1.id === undefined) && (missing1 = "id")) || ((data1.revision === undefined) && (missing1 = "revision"))) || ((data1.name === undefined) && (missing1 = "name"))) || ((data1.slug === undefined) && (missing1 = "slug"))) || ((data1.tier === undefined) && (missing1 = "tier"))) || ((data1.owner_team_id === undefined) && (missing1 = "owner_team_id"))) || ((data1.archived_at === undefined) && (missing1 = "archived_at"))){
validate58.errors = [{instancePath:instancePath+"/service",schemaPath:"#/properties/service/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.id !== undefined){
let data2 = data1.id;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate58.errors = [{instancePath:instancePath+"/service/id",schemaPath:"#/properties/service/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate58.errors = [{instancePath:instancePath+"/service/id",schemaPath:"#/properties/service/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate58.errors = [{instancePath:instancePath+"/service/id",schemaPath:"#/properties/service/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.revision !== undefined){
let data3 = data1.revision;
const _errs7 = errors;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
validate58.errors = [{instancePath:instancePath+"/service/revision",schemaPath:"#/properties/service/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 9007199254740991 || isNaN(data3)){
validate58.errors = [{instancePath:instancePath+"/service/revision",schemaPath:"#/properties/service/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data3 < 1 || isNaN(data3)){
validate58.errors = [{instancePath:instancePath+"/service/revision",schemaPath:"#/properties/service/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.name !== undefined){
const _errs9 = errors;
if(typeof data1.name !== "string"){
validate58.errors = [{instancePath:instancePath+"/service/name",schemaPath:"#/properties/service/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.slug !== undefined){
const _errs11 = errors;
if(typeof data1.slug !== "string"){
validate58.errors = [{instancePath:instancePath+"/service/slug",schemaPath:"#/properties/service/properties/slug/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs11 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.tier !== undefined){
const _errs13 = errors;
if(typeof data1.tier !== "string"){
validate58.errors = [{instancePath:instancePath+"/service/tier",schemaPath:"#/properties/service/properties/tier/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.owner_team_id !== undefined){
let data7 = data1.owner_team_id;
const _errs15 = errors;
const _errs16 = errors;
let valid2 = false;
const _errs17 = errors;
if(!(((typeof data7 == "number") && (!(data7 % 1) && !isNaN(data7))) && (isFinite(data7)))){
const err0 = {instancePath:instancePath+"/service/owner_team_id",schemaPath:"#/properties/service/properties/owner_team_id/anyOf/0/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(errors === _errs17){
if((typeof data7 == "number") && (isFinite(data7))){
if(data7 > 9007199254740991 || isNaN(data7)){
const err1 = {instancePath:instancePath+"/service/owner_team_id",schemaPath:"#/properties/service/properties/owner_team_id/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data7 < 1 || isNaN(data7)){
const err2 = {instancePath:instancePath+"/service/owner_team_id",schemaPath:"#/properties/service/properties/owner_team_id/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
}
var _valid0 = _errs17 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs19 = errors;
if(data7 !== null){
const err3 = {instancePath:instancePath+"/service/owner_team_id",schemaPath:"#/properties/service/properties/owner_team_id/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs19 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err4 = {instancePath:instancePath+"/service/owner_team_id",schemaPath:"#/properties/service/properties/owner_team_id/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate58.errors = vErrors;
return false;
}
else {
errors = _errs16;
if(vErrors !== null){
if(_errs16){
vErrors.length = _errs16;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs15 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.archived_at !== undefined){
let data8 = data1.archived_at;
const _errs21 = errors;
const _errs22 = errors;
let valid3 = false;
const _errs23 = errors;
if(errors === _errs23){
if(typeof data8 === "string"){
if(!pattern1.test(data8)){
const err5 = {instancePath:instancePath+"/service/archived_at",schemaPath:"#/properties/service/properties/archived_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/service/archived_at",schemaPath:"#/properties/service/properties/archived_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid1 = _errs23 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs25 = errors;
if(data8 !== null){
const err7 = {instancePath:instancePath+"/service/archived_at",schemaPath:"#/properties/service/properties/archived_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid1 = _errs25 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err8 = {instancePath:instancePath+"/service/archived_at",schemaPath:"#/properties/service/properties/archived_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
validate58.errors = vErrors;
return false;
}
else {
errors = _errs22;
if(vErrors !== null){
if(_errs22){
vErrors.length = _errs22;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs21 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
}
}
}
else {
validate58.errors = [{instancePath:instancePath+"/service",schemaPath:"#/properties/service/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate58.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate58.errors = vErrors;
return errors === 0;
}

export const validate_team_changed = validate59;
const schema22 = {"type":"object","properties":{"version":{"type":"integer","minimum":1,"maximum":9007199254740991},"team":{"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991},"name":{"type":"string"},"slug":{"type":"string"},"parent_team_id":{"anyOf":[{"type":"integer","minimum":1,"maximum":9007199254740991},{"type":"null"}]},"archived_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]}},"required":["id","revision","name","slug","parent_team_id","archived_at"]}},"required":["version","team"]};

function validate59(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.version === undefined) && (missing0 = "version")) || ((data.team === undefined) && (missing0 = "team"))){
validate59.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate59.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate59.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate59.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.team !== undefined){
let data1 = data.team;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing1;
if(((((((data1.id === undefined) && (missing1 = "id")) || ((data1.revision === undefined) && (missing1 = "revision"))) || ((data1.name === undefined) && (missing1 = "name"))) || ((data1.slug === undefined) && (missing1 = "slug"))) || ((data1.parent_team_id === undefined) && (missing1 = "parent_team_id"))) || ((data1.archived_at === undefined) && (missing1 = "archived_at"))){
validate59.errors = [{instancePath:instancePath+"/team",schemaPath:"#/properties/team/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.id !== undefined){
let data2 = data1.id;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate59.errors = [{instancePath:instancePath+"/team/id",schemaPath:"#/properties/team/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate59.errors = [{instancePath:instancePath+"/team/id",schemaPath:"#/properties/team/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate59.errors = [{instancePath:instancePath+"/team/id",schemaPath:"#/properties/team/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.revision !== undefined){
let data3 = data1.revision;
const _errs7 = errors;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
validate59.errors = [{instancePath:instancePath+"/team/revision",schemaPath:"#/properties/team/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 9007199254740991 || isNaN(data3)){
validate59.errors = [{instancePath:instancePath+"/team/revision",schemaPath:"#/properties/team/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data3 < 1 || isNaN(data3)){
validate59.errors = [{instancePath:instancePath+"/team/revision",schemaPath:"#/properties/team/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.name !== undefined){
const _errs9 = errors;
if(typeof data1.name !== "string"){
validate59.errors = [{instancePath:instancePath+"/team/name",schemaPath:"#/properties/team/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.slug !== undefined){
const _errs11 = errors;
if(typeof data1.slug !== "string"){
validate59.errors = [{instancePath:instancePath+"/team/slug",schemaPath:"#/properties/team/properties/slug/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs11 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.parent_team_id !== undefined){
let data6 = data1.parent_team_id;
const _errs13 = errors;
const _errs14 = errors;
let valid2 = false;
const _errs15 = errors;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
const err0 = {instancePath:instancePath+"/team/parent_team_id",schemaPath:"#/properties/team/properties/parent_team_id/anyOf/0/type",keyword:"type",params:{type: "integer"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
if(errors === _errs15){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 9007199254740991 || isNaN(data6)){
const err1 = {instancePath:instancePath+"/team/parent_team_id",schemaPath:"#/properties/team/properties/parent_team_id/anyOf/0/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data6 < 1 || isNaN(data6)){
const err2 = {instancePath:instancePath+"/team/parent_team_id",schemaPath:"#/properties/team/properties/parent_team_id/anyOf/0/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
}
}
}
var _valid0 = _errs15 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs17 = errors;
if(data6 !== null){
const err3 = {instancePath:instancePath+"/team/parent_team_id",schemaPath:"#/properties/team/properties/parent_team_id/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var _valid0 = _errs17 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err4 = {instancePath:instancePath+"/team/parent_team_id",schemaPath:"#/properties/team/properties/parent_team_id/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
validate59.errors = vErrors;
return false;
}
else {
errors = _errs14;
if(vErrors !== null){
if(_errs14){
vErrors.length = _errs14;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.archived_at !== undefined){
let data7 = data1.archived_at;
const _errs19 = errors;
const _errs20 = errors;
let valid3 = false;
const _errs21 = errors;
if(errors === _errs21){
if(typeof data7 === "string"){
if(!pattern1.test(data7)){
const err5 = {instancePath:instancePath+"/team/archived_at",schemaPath:"#/properties/team/properties/archived_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
else {
const err6 = {instancePath:instancePath+"/team/archived_at",schemaPath:"#/properties/team/properties/archived_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
}
}
var _valid1 = _errs21 === errors;
valid3 = valid3 || _valid1;
if(!valid3){
const _errs23 = errors;
if(data7 !== null){
const err7 = {instancePath:instancePath+"/team/archived_at",schemaPath:"#/properties/team/properties/archived_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
var _valid1 = _errs23 === errors;
valid3 = valid3 || _valid1;
}
if(!valid3){
const err8 = {instancePath:instancePath+"/team/archived_at",schemaPath:"#/properties/team/properties/archived_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
validate59.errors = vErrors;
return false;
}
else {
errors = _errs20;
if(vErrors !== null){
if(_errs20){
vErrors.length = _errs20;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs19 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
}
}
else {
validate59.errors = [{instancePath:instancePath+"/team",schemaPath:"#/properties/team/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate59.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate59.errors = vErrors;
return errors === 0;
}

export const validate_custom_field_changed = validate60;
const schema23 = {"type":"object","properties":{"version":{"type":"integer","minimum":1,"maximum":9007199254740991},"field":{"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"revision":{"type":"integer","minimum":1,"maximum":9007199254740991},"name":{"type":"string"},"slug":{"type":"string"},"field_type":{"type":"string"},"default_value":{},"config":{"type":"object","properties":{"max_length":{"type":"integer","minimum":1,"maximum":9007199254740991},"min":{"type":"number"},"max":{"type":"number"},"precision":{"type":"integer","minimum":0,"maximum":10},"currency":{"type":"string","pattern":"^[A-Z]{3}$"},"currencies":{"type":"array","items":{"type":"string","pattern":"^[A-Z]{3}$"}},"options":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"object","properties":{"value":{"type":"string"},"label":{"type":"string"},"color":{"type":"string"}},"required":["value"]}]}},"allow_custom":{"type":"boolean"}}},"required":{"type":"boolean"},"required_on_creation":{"type":"boolean"},"sort_order":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},"created_at":{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},"archived_at":{"anyOf":[{"type":"string","pattern":"^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"},{"type":"null"}]}},"required":["id","revision","name","slug","field_type","required","required_on_creation","sort_order","created_at","archived_at"]}},"required":["version","field"]};
const pattern17 = new RegExp("^[A-Z]{3}$", "u");

function validate60(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.version === undefined) && (missing0 = "version")) || ((data.field === undefined) && (missing0 = "field"))){
validate60.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate60.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate60.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate60.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.field !== undefined){
let data1 = data.field;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing1;
if(((((((((((data1.id === undefined) && (missing1 = "id")) || ((data1.revision === undefined) && (missing1 = "revision"))) || ((data1.name === undefined) && (missing1 = "name"))) || ((data1.slug === undefined) && (missing1 = "slug"))) || ((data1.field_type === undefined) && (missing1 = "field_type"))) || ((data1.required === undefined) && (missing1 = "required"))) || ((data1.required_on_creation === undefined) && (missing1 = "required_on_creation"))) || ((data1.sort_order === undefined) && (missing1 = "sort_order"))) || ((data1.created_at === undefined) && (missing1 = "created_at"))) || ((data1.archived_at === undefined) && (missing1 = "archived_at"))){
validate60.errors = [{instancePath:instancePath+"/field",schemaPath:"#/properties/field/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.id !== undefined){
let data2 = data1.id;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate60.errors = [{instancePath:instancePath+"/field/id",schemaPath:"#/properties/field/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate60.errors = [{instancePath:instancePath+"/field/id",schemaPath:"#/properties/field/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate60.errors = [{instancePath:instancePath+"/field/id",schemaPath:"#/properties/field/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.revision !== undefined){
let data3 = data1.revision;
const _errs7 = errors;
if(!(((typeof data3 == "number") && (!(data3 % 1) && !isNaN(data3))) && (isFinite(data3)))){
validate60.errors = [{instancePath:instancePath+"/field/revision",schemaPath:"#/properties/field/properties/revision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs7){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 > 9007199254740991 || isNaN(data3)){
validate60.errors = [{instancePath:instancePath+"/field/revision",schemaPath:"#/properties/field/properties/revision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data3 < 1 || isNaN(data3)){
validate60.errors = [{instancePath:instancePath+"/field/revision",schemaPath:"#/properties/field/properties/revision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.name !== undefined){
const _errs9 = errors;
if(typeof data1.name !== "string"){
validate60.errors = [{instancePath:instancePath+"/field/name",schemaPath:"#/properties/field/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.slug !== undefined){
const _errs11 = errors;
if(typeof data1.slug !== "string"){
validate60.errors = [{instancePath:instancePath+"/field/slug",schemaPath:"#/properties/field/properties/slug/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs11 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.field_type !== undefined){
const _errs13 = errors;
if(typeof data1.field_type !== "string"){
validate60.errors = [{instancePath:instancePath+"/field/field_type",schemaPath:"#/properties/field/properties/field_type/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.config !== undefined){
let data7 = data1.config;
const _errs15 = errors;
if(errors === _errs15){
if(data7 && typeof data7 == "object" && !Array.isArray(data7)){
if(data7.max_length !== undefined){
let data8 = data7.max_length;
const _errs17 = errors;
if(!(((typeof data8 == "number") && (!(data8 % 1) && !isNaN(data8))) && (isFinite(data8)))){
validate60.errors = [{instancePath:instancePath+"/field/config/max_length",schemaPath:"#/properties/field/properties/config/properties/max_length/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs17){
if((typeof data8 == "number") && (isFinite(data8))){
if(data8 > 9007199254740991 || isNaN(data8)){
validate60.errors = [{instancePath:instancePath+"/field/config/max_length",schemaPath:"#/properties/field/properties/config/properties/max_length/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data8 < 1 || isNaN(data8)){
validate60.errors = [{instancePath:instancePath+"/field/config/max_length",schemaPath:"#/properties/field/properties/config/properties/max_length/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid2 = _errs17 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.min !== undefined){
let data9 = data7.min;
const _errs19 = errors;
if(!((typeof data9 == "number") && (isFinite(data9)))){
validate60.errors = [{instancePath:instancePath+"/field/config/min",schemaPath:"#/properties/field/properties/config/properties/min/type",keyword:"type",params:{type: "number"}}];
return false;
}
var valid2 = _errs19 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.max !== undefined){
let data10 = data7.max;
const _errs21 = errors;
if(!((typeof data10 == "number") && (isFinite(data10)))){
validate60.errors = [{instancePath:instancePath+"/field/config/max",schemaPath:"#/properties/field/properties/config/properties/max/type",keyword:"type",params:{type: "number"}}];
return false;
}
var valid2 = _errs21 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.precision !== undefined){
let data11 = data7.precision;
const _errs23 = errors;
if(!(((typeof data11 == "number") && (!(data11 % 1) && !isNaN(data11))) && (isFinite(data11)))){
validate60.errors = [{instancePath:instancePath+"/field/config/precision",schemaPath:"#/properties/field/properties/config/properties/precision/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs23){
if((typeof data11 == "number") && (isFinite(data11))){
if(data11 > 10 || isNaN(data11)){
validate60.errors = [{instancePath:instancePath+"/field/config/precision",schemaPath:"#/properties/field/properties/config/properties/precision/maximum",keyword:"maximum",params:{comparison: "<=", limit: 10}}];
return false;
}
else {
if(data11 < 0 || isNaN(data11)){
validate60.errors = [{instancePath:instancePath+"/field/config/precision",schemaPath:"#/properties/field/properties/config/properties/precision/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}}];
return false;
}
}
}
}
var valid2 = _errs23 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.currency !== undefined){
let data12 = data7.currency;
const _errs25 = errors;
if(errors === _errs25){
if(typeof data12 === "string"){
if(!pattern17.test(data12)){
validate60.errors = [{instancePath:instancePath+"/field/config/currency",schemaPath:"#/properties/field/properties/config/properties/currency/pattern",keyword:"pattern",params:{pattern: "^[A-Z]{3}$"}}];
return false;
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/config/currency",schemaPath:"#/properties/field/properties/config/properties/currency/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid2 = _errs25 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.currencies !== undefined){
let data13 = data7.currencies;
const _errs27 = errors;
if(errors === _errs27){
if(Array.isArray(data13)){
var valid3 = true;
const len0 = data13.length;
for(let i0=0; i0<len0; i0++){
let data14 = data13[i0];
const _errs29 = errors;
if(errors === _errs29){
if(typeof data14 === "string"){
if(!pattern17.test(data14)){
validate60.errors = [{instancePath:instancePath+"/field/config/currencies/" + i0,schemaPath:"#/properties/field/properties/config/properties/currencies/items/pattern",keyword:"pattern",params:{pattern: "^[A-Z]{3}$"}}];
return false;
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/config/currencies/" + i0,schemaPath:"#/properties/field/properties/config/properties/currencies/items/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid3 = _errs29 === errors;
if(!valid3){
break;
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/config/currencies",schemaPath:"#/properties/field/properties/config/properties/currencies/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid2 = _errs27 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.options !== undefined){
let data15 = data7.options;
const _errs31 = errors;
if(errors === _errs31){
if(Array.isArray(data15)){
var valid4 = true;
const len1 = data15.length;
for(let i1=0; i1<len1; i1++){
let data16 = data15[i1];
const _errs33 = errors;
const _errs34 = errors;
let valid5 = false;
const _errs35 = errors;
if(typeof data16 !== "string"){
const err0 = {instancePath:instancePath+"/field/config/options/" + i1,schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
var _valid0 = _errs35 === errors;
valid5 = valid5 || _valid0;
if(!valid5){
const _errs37 = errors;
if(errors === _errs37){
if(data16 && typeof data16 == "object" && !Array.isArray(data16)){
let missing2;
if((data16.value === undefined) && (missing2 = "value")){
const err1 = {instancePath:instancePath+"/field/config/options/" + i1,schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/1/required",keyword:"required",params:{missingProperty: missing2}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
else {
if(data16.value !== undefined){
const _errs39 = errors;
if(typeof data16.value !== "string"){
const err2 = {instancePath:instancePath+"/field/config/options/" + i1+"/value",schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/1/properties/value/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var valid6 = _errs39 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data16.label !== undefined){
const _errs41 = errors;
if(typeof data16.label !== "string"){
const err3 = {instancePath:instancePath+"/field/config/options/" + i1+"/label",schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/1/properties/label/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
}
var valid6 = _errs41 === errors;
}
else {
var valid6 = true;
}
if(valid6){
if(data16.color !== undefined){
const _errs43 = errors;
if(typeof data16.color !== "string"){
const err4 = {instancePath:instancePath+"/field/config/options/" + i1+"/color",schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/1/properties/color/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err4];
}
else {
vErrors.push(err4);
}
errors++;
}
var valid6 = _errs43 === errors;
}
else {
var valid6 = true;
}
}
}
}
}
else {
const err5 = {instancePath:instancePath+"/field/config/options/" + i1,schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf/1/type",keyword:"type",params:{type: "object"}};
if(vErrors === null){
vErrors = [err5];
}
else {
vErrors.push(err5);
}
errors++;
}
}
var _valid0 = _errs37 === errors;
valid5 = valid5 || _valid0;
}
if(!valid5){
const err6 = {instancePath:instancePath+"/field/config/options/" + i1,schemaPath:"#/properties/field/properties/config/properties/options/items/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err6];
}
else {
vErrors.push(err6);
}
errors++;
validate60.errors = vErrors;
return false;
}
else {
errors = _errs34;
if(vErrors !== null){
if(_errs34){
vErrors.length = _errs34;
}
else {
vErrors = null;
}
}
}
var valid4 = _errs33 === errors;
if(!valid4){
break;
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/config/options",schemaPath:"#/properties/field/properties/config/properties/options/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid2 = _errs31 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data7.allow_custom !== undefined){
const _errs45 = errors;
if(typeof data7.allow_custom !== "boolean"){
validate60.errors = [{instancePath:instancePath+"/field/config/allow_custom",schemaPath:"#/properties/field/properties/config/properties/allow_custom/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid2 = _errs45 === errors;
}
else {
var valid2 = true;
}
}
}
}
}
}
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/config",schemaPath:"#/properties/field/properties/config/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid1 = _errs15 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.required !== undefined){
const _errs47 = errors;
if(typeof data1.required !== "boolean"){
validate60.errors = [{instancePath:instancePath+"/field/required",schemaPath:"#/properties/field/properties/required/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid1 = _errs47 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.required_on_creation !== undefined){
const _errs49 = errors;
if(typeof data1.required_on_creation !== "boolean"){
validate60.errors = [{instancePath:instancePath+"/field/required_on_creation",schemaPath:"#/properties/field/properties/required_on_creation/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid1 = _errs49 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.sort_order !== undefined){
let data23 = data1.sort_order;
const _errs51 = errors;
if(!(((typeof data23 == "number") && (!(data23 % 1) && !isNaN(data23))) && (isFinite(data23)))){
validate60.errors = [{instancePath:instancePath+"/field/sort_order",schemaPath:"#/properties/field/properties/sort_order/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs51){
if((typeof data23 == "number") && (isFinite(data23))){
if(data23 > 9007199254740991 || isNaN(data23)){
validate60.errors = [{instancePath:instancePath+"/field/sort_order",schemaPath:"#/properties/field/properties/sort_order/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data23 < -9007199254740991 || isNaN(data23)){
validate60.errors = [{instancePath:instancePath+"/field/sort_order",schemaPath:"#/properties/field/properties/sort_order/minimum",keyword:"minimum",params:{comparison: ">=", limit: -9007199254740991}}];
return false;
}
}
}
}
var valid1 = _errs51 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.created_at !== undefined){
let data24 = data1.created_at;
const _errs53 = errors;
if(errors === _errs53){
if(typeof data24 === "string"){
if(!pattern1.test(data24)){
validate60.errors = [{instancePath:instancePath+"/field/created_at",schemaPath:"#/properties/field/properties/created_at/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}}];
return false;
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field/created_at",schemaPath:"#/properties/field/properties/created_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid1 = _errs53 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.archived_at !== undefined){
let data25 = data1.archived_at;
const _errs55 = errors;
const _errs56 = errors;
let valid7 = false;
const _errs57 = errors;
if(errors === _errs57){
if(typeof data25 === "string"){
if(!pattern1.test(data25)){
const err7 = {instancePath:instancePath+"/field/archived_at",schemaPath:"#/properties/field/properties/archived_at/anyOf/0/pattern",keyword:"pattern",params:{pattern: "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}(?:Z))$"}};
if(vErrors === null){
vErrors = [err7];
}
else {
vErrors.push(err7);
}
errors++;
}
}
else {
const err8 = {instancePath:instancePath+"/field/archived_at",schemaPath:"#/properties/field/properties/archived_at/anyOf/0/type",keyword:"type",params:{type: "string"}};
if(vErrors === null){
vErrors = [err8];
}
else {
vErrors.push(err8);
}
errors++;
}
}
var _valid1 = _errs57 === errors;
valid7 = valid7 || _valid1;
if(!valid7){
const _errs59 = errors;
if(data25 !== null){
const err9 = {instancePath:instancePath+"/field/archived_at",schemaPath:"#/properties/field/properties/archived_at/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err9];
}
else {
vErrors.push(err9);
}
errors++;
}
var _valid1 = _errs59 === errors;
valid7 = valid7 || _valid1;
}
if(!valid7){
const err10 = {instancePath:instancePath+"/field/archived_at",schemaPath:"#/properties/field/properties/archived_at/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err10];
}
else {
vErrors.push(err10);
}
errors++;
validate60.errors = vErrors;
return false;
}
else {
errors = _errs56;
if(vErrors !== null){
if(_errs56){
vErrors.length = _errs56;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs55 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
}
}
}
}
}
}
}
else {
validate60.errors = [{instancePath:instancePath+"/field",schemaPath:"#/properties/field/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate60.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate60.errors = vErrors;
return errors === 0;
}

export const validate_workspace_changed = validate61;
const schema24 = {"type":"object","properties":{"version":{"type":"integer","minimum":1,"maximum":9007199254740991},"workspace":{"type":"object","properties":{"name":{"type":"string"},"history_days":{"anyOf":[{"type":"number","exclusiveMinimum":0},{"type":"null"}]},"reporting_currency":{"type":"string"},"short_title_required":{"type":"boolean"}},"required":["name","history_days","reporting_currency","short_title_required"]}},"required":["version","workspace"]};

function validate61(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.version === undefined) && (missing0 = "version")) || ((data.workspace === undefined) && (missing0 = "workspace"))){
validate61.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate61.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate61.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate61.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.workspace !== undefined){
let data1 = data.workspace;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing1;
if(((((data1.name === undefined) && (missing1 = "name")) || ((data1.history_days === undefined) && (missing1 = "history_days"))) || ((data1.reporting_currency === undefined) && (missing1 = "reporting_currency"))) || ((data1.short_title_required === undefined) && (missing1 = "short_title_required"))){
validate61.errors = [{instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.name !== undefined){
const _errs5 = errors;
if(typeof data1.name !== "string"){
validate61.errors = [{instancePath:instancePath+"/workspace/name",schemaPath:"#/properties/workspace/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.history_days !== undefined){
let data3 = data1.history_days;
const _errs7 = errors;
const _errs8 = errors;
let valid2 = false;
const _errs9 = errors;
if(errors === _errs9){
if((typeof data3 == "number") && (isFinite(data3))){
if(data3 <= 0 || isNaN(data3)){
const err0 = {instancePath:instancePath+"/workspace/history_days",schemaPath:"#/properties/workspace/properties/history_days/anyOf/0/exclusiveMinimum",keyword:"exclusiveMinimum",params:{comparison: ">", limit: 0}};
if(vErrors === null){
vErrors = [err0];
}
else {
vErrors.push(err0);
}
errors++;
}
}
else {
const err1 = {instancePath:instancePath+"/workspace/history_days",schemaPath:"#/properties/workspace/properties/history_days/anyOf/0/type",keyword:"type",params:{type: "number"}};
if(vErrors === null){
vErrors = [err1];
}
else {
vErrors.push(err1);
}
errors++;
}
}
var _valid0 = _errs9 === errors;
valid2 = valid2 || _valid0;
if(!valid2){
const _errs11 = errors;
if(data3 !== null){
const err2 = {instancePath:instancePath+"/workspace/history_days",schemaPath:"#/properties/workspace/properties/history_days/anyOf/1/type",keyword:"type",params:{type: "null"}};
if(vErrors === null){
vErrors = [err2];
}
else {
vErrors.push(err2);
}
errors++;
}
var _valid0 = _errs11 === errors;
valid2 = valid2 || _valid0;
}
if(!valid2){
const err3 = {instancePath:instancePath+"/workspace/history_days",schemaPath:"#/properties/workspace/properties/history_days/anyOf",keyword:"anyOf",params:{}};
if(vErrors === null){
vErrors = [err3];
}
else {
vErrors.push(err3);
}
errors++;
validate61.errors = vErrors;
return false;
}
else {
errors = _errs8;
if(vErrors !== null){
if(_errs8){
vErrors.length = _errs8;
}
else {
vErrors = null;
}
}
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.reporting_currency !== undefined){
const _errs13 = errors;
if(typeof data1.reporting_currency !== "string"){
validate61.errors = [{instancePath:instancePath+"/workspace/reporting_currency",schemaPath:"#/properties/workspace/properties/reporting_currency/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.short_title_required !== undefined){
const _errs15 = errors;
if(typeof data1.short_title_required !== "boolean"){
validate61.errors = [{instancePath:instancePath+"/workspace/short_title_required",schemaPath:"#/properties/workspace/properties/short_title_required/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid1 = _errs15 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
else {
validate61.errors = [{instancePath:instancePath+"/workspace",schemaPath:"#/properties/workspace/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate61.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate61.errors = vErrors;
return errors === 0;
}

export const validate_user_changed = validate62;
const schema25 = {"type":"object","properties":{"version":{"type":"integer","minimum":1,"maximum":9007199254740991},"user":{"type":"object","properties":{"id":{"type":"integer","minimum":1,"maximum":9007199254740991},"email":{"type":"string"},"name":{"type":"string"},"active":{"type":"boolean"},"seat":{"type":"string"},"role":{"type":"string"}},"required":["id","email","name","active","seat","role"]}},"required":["version","user"]};

function validate62(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if(((data.version === undefined) && (missing0 = "version")) || ((data.user === undefined) && (missing0 = "user"))){
validate62.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.version !== undefined){
let data0 = data.version;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate62.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate62.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate62.errors = [{instancePath:instancePath+"/version",schemaPath:"#/properties/version/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.user !== undefined){
let data1 = data.user;
const _errs3 = errors;
if(errors === _errs3){
if(data1 && typeof data1 == "object" && !Array.isArray(data1)){
let missing1;
if(((((((data1.id === undefined) && (missing1 = "id")) || ((data1.email === undefined) && (missing1 = "email"))) || ((data1.name === undefined) && (missing1 = "name"))) || ((data1.active === undefined) && (missing1 = "active"))) || ((data1.seat === undefined) && (missing1 = "seat"))) || ((data1.role === undefined) && (missing1 = "role"))){
validate62.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data1.id !== undefined){
let data2 = data1.id;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate62.errors = [{instancePath:instancePath+"/user/id",schemaPath:"#/properties/user/properties/id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate62.errors = [{instancePath:instancePath+"/user/id",schemaPath:"#/properties/user/properties/id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 1 || isNaN(data2)){
validate62.errors = [{instancePath:instancePath+"/user/id",schemaPath:"#/properties/user/properties/id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid1 = _errs5 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.email !== undefined){
const _errs7 = errors;
if(typeof data1.email !== "string"){
validate62.errors = [{instancePath:instancePath+"/user/email",schemaPath:"#/properties/user/properties/email/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs7 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.name !== undefined){
const _errs9 = errors;
if(typeof data1.name !== "string"){
validate62.errors = [{instancePath:instancePath+"/user/name",schemaPath:"#/properties/user/properties/name/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs9 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.active !== undefined){
const _errs11 = errors;
if(typeof data1.active !== "boolean"){
validate62.errors = [{instancePath:instancePath+"/user/active",schemaPath:"#/properties/user/properties/active/type",keyword:"type",params:{type: "boolean"}}];
return false;
}
var valid1 = _errs11 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.seat !== undefined){
const _errs13 = errors;
if(typeof data1.seat !== "string"){
validate62.errors = [{instancePath:instancePath+"/user/seat",schemaPath:"#/properties/user/properties/seat/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs13 === errors;
}
else {
var valid1 = true;
}
if(valid1){
if(data1.role !== undefined){
const _errs15 = errors;
if(typeof data1.role !== "string"){
validate62.errors = [{instancePath:instancePath+"/user/role",schemaPath:"#/properties/user/properties/role/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid1 = _errs15 === errors;
}
else {
var valid1 = true;
}
}
}
}
}
}
}
}
else {
validate62.errors = [{instancePath:instancePath+"/user",schemaPath:"#/properties/user/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate62.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate62.errors = vErrors;
return errors === 0;
}

export const validate_customer_impact_updated = validate63;
const schema26 = {"type":"object","properties":{"workspace_id":{"type":"integer","minimum":1,"maximum":9007199254740991},"incident_id":{"type":"integer","minimum":1,"maximum":9007199254740991},"affected_customers":{"type":"integer","minimum":0,"maximum":9007199254740991},"mrr":{"type":"array","items":{"type":"object","properties":{"currency":{"type":"string","pattern":"^[A-Z]{3}$"},"amount_minor":{"type":"integer","minimum":0,"maximum":9007199254740991}},"required":["currency","amount_minor"]}},"as_of":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"}},"required":["workspace_id","incident_id","affected_customers","mrr","as_of"]};
const pattern22 = new RegExp("^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$", "u");

function validate63(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.workspace_id === undefined) && (missing0 = "workspace_id")) || ((data.incident_id === undefined) && (missing0 = "incident_id"))) || ((data.affected_customers === undefined) && (missing0 = "affected_customers"))) || ((data.mrr === undefined) && (missing0 = "mrr"))) || ((data.as_of === undefined) && (missing0 = "as_of"))){
validate63.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.workspace_id !== undefined){
let data0 = data.workspace_id;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate63.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate63.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate63.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.incident_id !== undefined){
let data1 = data.incident_id;
const _errs3 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate63.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate63.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate63.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.affected_customers !== undefined){
let data2 = data.affected_customers;
const _errs5 = errors;
if(!(((typeof data2 == "number") && (!(data2 % 1) && !isNaN(data2))) && (isFinite(data2)))){
validate63.errors = [{instancePath:instancePath+"/affected_customers",schemaPath:"#/properties/affected_customers/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs5){
if((typeof data2 == "number") && (isFinite(data2))){
if(data2 > 9007199254740991 || isNaN(data2)){
validate63.errors = [{instancePath:instancePath+"/affected_customers",schemaPath:"#/properties/affected_customers/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data2 < 0 || isNaN(data2)){
validate63.errors = [{instancePath:instancePath+"/affected_customers",schemaPath:"#/properties/affected_customers/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}}];
return false;
}
}
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.mrr !== undefined){
let data3 = data.mrr;
const _errs7 = errors;
if(errors === _errs7){
if(Array.isArray(data3)){
var valid1 = true;
const len0 = data3.length;
for(let i0=0; i0<len0; i0++){
let data4 = data3[i0];
const _errs9 = errors;
if(errors === _errs9){
if(data4 && typeof data4 == "object" && !Array.isArray(data4)){
let missing1;
if(((data4.currency === undefined) && (missing1 = "currency")) || ((data4.amount_minor === undefined) && (missing1 = "amount_minor"))){
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0,schemaPath:"#/properties/mrr/items/required",keyword:"required",params:{missingProperty: missing1}}];
return false;
}
else {
if(data4.currency !== undefined){
let data5 = data4.currency;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern17.test(data5)){
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0+"/currency",schemaPath:"#/properties/mrr/items/properties/currency/pattern",keyword:"pattern",params:{pattern: "^[A-Z]{3}$"}}];
return false;
}
}
else {
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0+"/currency",schemaPath:"#/properties/mrr/items/properties/currency/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid2 = _errs11 === errors;
}
else {
var valid2 = true;
}
if(valid2){
if(data4.amount_minor !== undefined){
let data6 = data4.amount_minor;
const _errs13 = errors;
if(!(((typeof data6 == "number") && (!(data6 % 1) && !isNaN(data6))) && (isFinite(data6)))){
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0+"/amount_minor",schemaPath:"#/properties/mrr/items/properties/amount_minor/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs13){
if((typeof data6 == "number") && (isFinite(data6))){
if(data6 > 9007199254740991 || isNaN(data6)){
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0+"/amount_minor",schemaPath:"#/properties/mrr/items/properties/amount_minor/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data6 < 0 || isNaN(data6)){
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0+"/amount_minor",schemaPath:"#/properties/mrr/items/properties/amount_minor/minimum",keyword:"minimum",params:{comparison: ">=", limit: 0}}];
return false;
}
}
}
}
var valid2 = _errs13 === errors;
}
else {
var valid2 = true;
}
}
}
}
else {
validate63.errors = [{instancePath:instancePath+"/mrr/" + i0,schemaPath:"#/properties/mrr/items/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
var valid1 = _errs9 === errors;
if(!valid1){
break;
}
}
}
else {
validate63.errors = [{instancePath:instancePath+"/mrr",schemaPath:"#/properties/mrr/type",keyword:"type",params:{type: "array"}}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.as_of !== undefined){
let data7 = data.as_of;
const _errs15 = errors;
if(errors === _errs15){
if(typeof data7 === "string"){
if(!pattern22.test(data7)){
validate63.errors = [{instancePath:instancePath+"/as_of",schemaPath:"#/properties/as_of/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"}}];
return false;
}
}
else {
validate63.errors = [{instancePath:instancePath+"/as_of",schemaPath:"#/properties/as_of/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs15 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate63.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate63.errors = vErrors;
return errors === 0;
}

export const validate_investigation_run_updated = validate64;
const schema27 = {"type":"object","properties":{"workspace_id":{"type":"integer","minimum":1,"maximum":9007199254740991},"incident_id":{"type":"integer","minimum":1,"maximum":9007199254740991},"run_id":{"type":"string"},"status":{"type":"string"},"started_at":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"},"completed_at":{"type":"string","pattern":"^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"}},"required":["workspace_id","incident_id","run_id","status","started_at"]};

function validate64(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((((((data.workspace_id === undefined) && (missing0 = "workspace_id")) || ((data.incident_id === undefined) && (missing0 = "incident_id"))) || ((data.run_id === undefined) && (missing0 = "run_id"))) || ((data.status === undefined) && (missing0 = "status"))) || ((data.started_at === undefined) && (missing0 = "started_at"))){
validate64.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0}}];
return false;
}
else {
if(data.workspace_id !== undefined){
let data0 = data.workspace_id;
const _errs1 = errors;
if(!(((typeof data0 == "number") && (!(data0 % 1) && !isNaN(data0))) && (isFinite(data0)))){
validate64.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs1){
if((typeof data0 == "number") && (isFinite(data0))){
if(data0 > 9007199254740991 || isNaN(data0)){
validate64.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data0 < 1 || isNaN(data0)){
validate64.errors = [{instancePath:instancePath+"/workspace_id",schemaPath:"#/properties/workspace_id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.incident_id !== undefined){
let data1 = data.incident_id;
const _errs3 = errors;
if(!(((typeof data1 == "number") && (!(data1 % 1) && !isNaN(data1))) && (isFinite(data1)))){
validate64.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/type",keyword:"type",params:{type: "integer"}}];
return false;
}
if(errors === _errs3){
if((typeof data1 == "number") && (isFinite(data1))){
if(data1 > 9007199254740991 || isNaN(data1)){
validate64.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/maximum",keyword:"maximum",params:{comparison: "<=", limit: 9007199254740991}}];
return false;
}
else {
if(data1 < 1 || isNaN(data1)){
validate64.errors = [{instancePath:instancePath+"/incident_id",schemaPath:"#/properties/incident_id/minimum",keyword:"minimum",params:{comparison: ">=", limit: 1}}];
return false;
}
}
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.run_id !== undefined){
const _errs5 = errors;
if(typeof data.run_id !== "string"){
validate64.errors = [{instancePath:instancePath+"/run_id",schemaPath:"#/properties/run_id/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.status !== undefined){
const _errs7 = errors;
if(typeof data.status !== "string"){
validate64.errors = [{instancePath:instancePath+"/status",schemaPath:"#/properties/status/type",keyword:"type",params:{type: "string"}}];
return false;
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.started_at !== undefined){
let data4 = data.started_at;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!pattern22.test(data4)){
validate64.errors = [{instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"}}];
return false;
}
}
else {
validate64.errors = [{instancePath:instancePath+"/started_at",schemaPath:"#/properties/started_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.completed_at !== undefined){
let data5 = data.completed_at;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern22.test(data5)){
validate64.errors = [{instancePath:instancePath+"/completed_at",schemaPath:"#/properties/completed_at/pattern",keyword:"pattern",params:{pattern: "^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:[Zz]|[+-]\\d{2}:\\d{2})$"}}];
return false;
}
}
else {
validate64.errors = [{instancePath:instancePath+"/completed_at",schemaPath:"#/properties/completed_at/type",keyword:"type",params:{type: "string"}}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
}
else {
validate64.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"}}];
return false;
}
}
validate64.errors = vErrors;
return errors === 0;
}

export const dataValidators = {
  'incident.created': validate_incident_created,
  'incident.updated': validate_incident_updated,
  'incident.archived': validate_incident_archived,
  'incident.restored': validate_incident_restored,
  'timeline_event.created': validate_timeline_event_created,
  'timeline_event.updated': validate_timeline_event_updated,
  'timeline_event.deleted': validate_timeline_event_deleted,
  'service.changed': validate_service_changed,
  'team.changed': validate_team_changed,
  'custom-field.changed': validate_custom_field_changed,
  'workspace.changed': validate_workspace_changed,
  'user.changed': validate_user_changed,
  'customer-impact.updated': validate_customer_impact_updated,
  'investigation.run.updated': validate_investigation_run_updated,
};
